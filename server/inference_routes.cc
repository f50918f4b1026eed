// The Open Inference Protocol, version 2: what serving platforms speak. A model has one input, the
// tensor `text`, and two outputs, `labels` and `scores`, of as many columns as labels were asked
// for.
#include <nlohmann/json.hpp>

#include "server/answers.h"
#include "server/api_error.h"
#include "server/content_type.h"
#include "server/json_text.h"
#include "server/label_choice.h"
#include "server/request_json.h"
#include "server/routes.h"

namespace elias::server {
namespace {

using Json = nlohmann::ordered_json;

Json metadata(const std::string& name) {
  const auto tensor = [](const char* tensor_name, const char* type, int64_t columns) {
    return Json{{"name", tensor_name}, {"datatype", type}, {"shape", {-1, columns}}};
  };
  return {{"name", name},
          {"versions", Json::array()},
          {"platform", "elias"},
          {"inputs", {tensor("text", "BYTES", 1)}},
          {"outputs", {tensor("labels", "BYTES", -1), tensor("scores", "FP32", -1)}}};
}

/// Its values row by row; in places that no label fills is `empty`.
template <typename Append>
void append_tensor(const std::vector<RankedRow>& rows, size_t k, const char* name, const char* type,
                   const char* empty, const Append& append, std::string& json) {
  if (json.back() == '}') json += ',';
  json += fmt::format(R"({{"name":"{}","datatype":"{}","shape":[{},{}],"data":[)", name, type,
                      rows.size(), k);
  for (size_t i = 0; i < rows.size() * k; ++i) {
    if (i > 0) json += ',';
    const RankedRow& row = rows[i / k];
    if (i % k < row.size()) {
      append(row[i % k]);
    } else {
      json += empty;
    }
  }
  json += "]}";
}

void answer_infer(Call& call, Api& api) {
  const ChosenModel chosen = api.choose(call.parameters[0], "");
  const Model& model = chosen.model();
  require_content_type(call, "application/json");
  InferBody body = read_infer_body(call.body.read(), api.limits());
  const LabelChoice choice(body.wanted, chosen);
  auto pending = chosen.service->predict(
      {.texts = std::move(body.texts), .k = choice.k(), .allowed = nullptr}, api.deadline());
  std::vector<RankedRow> rows = pending.wait();
  for (RankedRow& row : rows) choice.cut(row);

  std::string json = R"({"model_name":)";
  append_string(chosen.name, json);
  if (!body.id.empty()) {
    json += R"(,"id":)";
    append_string(body.id, json);
  }
  json += R"(,"outputs":[)";
  const auto k = static_cast<size_t>(choice.k());
  if (body.labels) {
    const auto name = [&](const ScoredLabel& scored) {
      append_string(model.label_name(static_cast<uint32_t>(scored.label)), json);
    };
    append_tensor(rows, k, "labels", "BYTES", R"("")", name, json);
  }
  if (body.scores) {
    const auto score = [&](const ScoredLabel& scored) { append_number(scored.score, json); };
    append_tensor(rows, k, "scores", "FP32", "0", score, json);
  }
  answer_json(call.response, json + "]}");
}

}  // namespace

void add_inference_routes(Router& router, Api& api) {
  router.add("GET", "/v2", {}, [](Call& call) {
    answer_json(call.response,
                {{"name", "elias"}, {"version", ELIAS_VERSION}, {"extensions", Json::array()}});
  });
  router.add("GET", "/v2/health/live", {.tokenless = true, .always = true}, [](Call& call) {
    answer_json(call.response, {{"live", true}});
  });
  // A server that stops does not come to this.
  router.add("GET", "/v2/health/ready", {.tokenless = true}, [](Call& call) {
    answer_json(call.response, {{"ready", true}});
  });
  router.add("GET", "/v2/models/{model}", {}, [&api](Call& call) {
    answer_json(call.response, metadata(api.choose(call.parameters[0], "").name));
  });
  router.add("GET", "/v2/models/{model}/ready", {}, [&api](Call& call) {
    answer_json(call.response,
                {{"name", api.choose(call.parameters[0], "").name}, {"ready", true}});
  });
  router.add("POST", "/v2/models/{model}/infer", {},
             [&api](Call& call) { answer_infer(call, api); });
}

}  // namespace elias::server
