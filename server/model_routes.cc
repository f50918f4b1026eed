// The models that are served: what each is, what its index has learned, and loading it again.
#include <fmt/chrono.h>

#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "server/answers.h"
#include "server/api_error.h"
#include "server/request_json.h"
#include "server/routes.h"

namespace elias::server {
namespace {

using Json = nlohmann::ordered_json;

std::string loaded_at(const ChosenModel& chosen) {
  const auto time = chosen.service->served().loaded_at();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

Json model_json(const ChosenModel& chosen) {
  const Model& model = chosen.model();
  return {{"name", chosen.name},
          {"method", model.method()},
          {"labels", model.labels()},
          {"points", model.points()},
          {"ensemble", model.members().size()},
          {"takes", "text"},
          {"threshold", model.thresholds() != nullptr},
          {"loaded_at", loaded_at(chosen)}};
}

void answer_index(Call& call, Api& api) {
  const ChosenModel chosen = api.choose(call.parameters[0], "model");
  Json json = api.card(chosen)->index(chosen.model());
  json["model"] = chosen.name;
  answer_json(call.response, json);
}

void answer_reload(Call& call, Api& api) {
  const std::string name = api.choose(call.parameters[0], "model").name;
  read_empty_body(call.body.read());
  try {
    api.reload(name);
  } catch (const InputError& refused) {
    throw ApiError(409, "model", "{} stays as it is: {}", shown(name), refused.what());
  }
  answer_json(call.response,
              {{"model", name}, {"loaded_at", loaded_at(api.choose(name, "model"))}});
}

}  // namespace

void add_model_routes(Router& router, Api& api) {
  router.add("GET", "/v1/models", {}, [&api](Call& call) {
    Json list = Json::array();
    for (const std::string& name : api.shelf().names()) {
      list.push_back(model_json(api.choose(name, "model")));
    }
    answer_json(call.response, {{"models", list}});
  });
  router.add("GET", "/v1/models/{model}", {}, [&api](Call& call) {
    answer_json(call.response, model_json(api.choose(call.parameters[0], "model")));
  });
  router.add("GET", "/v1/models/{model}/index", {},
             [&api](Call& call) { answer_index(call, api); });
  router.add("POST", "/v1/models/{model}/reload", {},
             [&api](Call& call) { answer_reload(call, api); });
}

}  // namespace elias::server
