// GET /v1/labels and /v1/label: the labels of a model by part of their names, and one of them.
#include <nlohmann/json.hpp>

#include "report/inspect_report.h"
#include "server/answers.h"
#include "server/api_error.h"
#include "server/find_served_label.h"
#include "server/request_json.h"
#include "server/routes.h"

namespace elias::server {
namespace {

using Json = nlohmann::ordered_json;

void answer_labels(Call& call, Api& api) {
  constexpr int64_t kDefaultListed = 20;
  const ChosenModel chosen = api.choose(call.query("model"), "model");
  const Model& model = chosen.model();
  const auto limit = call.query("limit");
  const int64_t most = limit ? read_whole("limit", *limit, 1, kMostListed) : kDefaultListed;
  const auto labels =
      api.card(chosen)->labels(model).find(call.query("q").value_or(""), static_cast<size_t>(most));
  Json list = Json::array();
  for (const uint32_t label : labels) {
    list.push_back({{"label", model.label_name(label)},
                    {"id", label},
                    {"train_points", model.label_counts()[label]}});
  }
  answer_json(call.response, {{"labels", list}});
}

// The nearest labels are found by a pass over all, which is a replica's work.
void answer_label(Call& call, Api& api) {
  constexpr size_t kMost = 10;
  const ChosenModel chosen = api.choose(call.query("model"), "model");
  const auto name = call.query("name");
  if (!name) throw ApiError(400, "name", "'name' is missing: give the name of a label");
  const uint32_t label = find_served_label(chosen.model(), chosen.name, *name, "name");
  const auto json = std::make_shared<Json>();
  chosen.service
      ->run(
          [label, json](Replica& replica) {
            ThreadPool alone(1);
            const Model& model = replica.model();
            *json = label_json(model, portray(model.first().weights, label, kMost, alone));
          },
          api.deadline())
      .wait();
  answer_json(call.response, *json);
}

}  // namespace

void add_label_routes(Router& router, Api& api) {
  router.add("GET", "/v1/labels", {.query = {"q", "limit", "model"}},
             [&api](Call& call) { answer_labels(call, api); });
  router.add("GET", "/v1/label", {.query = {"name", "model"}},
             [&api](Call& call) { answer_label(call, api); });
}

}  // namespace elias::server
