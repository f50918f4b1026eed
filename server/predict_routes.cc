// POST /v1/predict: labels of texts, with what led to them where that is asked for.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "report/explain_report.h"
#include "server/answers.h"
#include "server/api_error.h"
#include "server/content_type.h"
#include "server/find_served_label.h"
#include "server/json_text.h"
#include "server/label_choice.h"
#include "server/request_json.h"
#include "server/routes.h"

namespace elias::server {
namespace {

using Json = nlohmann::ordered_json;

std::vector<uint32_t> labels_of(const Model& model, const std::vector<std::string>& names,
                                const std::string& model_name, const std::string& field) {
  std::vector<uint32_t> labels;
  labels.reserve(names.size());
  for (const std::string& name : names) {
    labels.push_back(
        find_served_label(model, model_name, name, fmt::format("{}[{}]", field, labels.size())));
  }
  return labels;
}

std::shared_ptr<const AllowedLabels> allowed_of(const PredictBody& body,
                                                const ChosenModel& chosen) {
  if (!body.candidates) return nullptr;
  if (body.candidates->empty()) {
    throw ApiError(400, "candidates", "'candidates' is empty: name labels, or leave it out");
  }
  std::vector<uint8_t> flags(chosen.model().labels());
  for (const uint32_t label :
       labels_of(chosen.model(), *body.candidates, chosen.name, "candidates")) {
    flags[label] = 1;
  }
  return std::make_shared<const AllowedLabels>(std::move(flags));
}

// --- predictions ---------------------------------------------------------------------------------

std::string predictions(PredictBody body, const ChosenModel& chosen, const Api& api) {
  const LabelChoice choice(body.wanted, chosen);
  auto pending = chosen.service->predict(
      {.texts = std::move(body.texts), .k = choice.k(), .allowed = allowed_of(body, chosen)},
      api.deadline());
  std::string json = R"({"model":)";
  append_string(chosen.name, json);
  json += R"(,"predictions":[)";
  const char* separator = "";
  for (RankedRow& row : pending.wait()) {
    choice.cut(row);
    json += separator;
    json += R"({"labels":)";
    append_labels(chosen.model(), row, json);
    json += '}';
    separator = ",";
  }
  return json + "]}";
}

// --- explanations --------------------------------------------------------------------------------

/// What a replica needs for one explanation: it may still be at work when nobody waits any more.
/// The service is not part of it, or it could end on one of its own threads.
struct ExplainTask {
  TextRows text;
  int64_t k;
  std::vector<uint32_t> labels;
  std::vector<ExplainedLabel> explained;
};

Json explanation(const ExplainTask& task, const Model& model, const LabelChoice& choice,
                 size_t words) {
  const LabelSpace space;  // of true labels, of which there are none
  PointExplanation point{.number = 1,
                         .line = 0,
                         .text = task.text.row(0),
                         .features = 0,
                         .truth = {},
                         .space = space,
                         .labels = {}};
  for (const ExplainedLabel& label : task.explained) {
    if (!task.labels.empty() || choice.keeps(label.label, label.score)) {
      point.labels.push_back(label);
    }
  }
  return {{"labels", explanation_json(model, point, words)["labels"]}};
}

// A text a task, so that the texts of others come in between.
Json explanations(const PredictBody& body, const ChosenModel& chosen, const Api& api) {
  const LabelChoice choice(body.wanted, chosen);
  const Model& model = chosen.model();
  const auto labels = labels_of(model, body.explained, chosen.name, "explain");
  const auto deadline = api.deadline();
  Json answer{{"model", chosen.name}, {"predictions", Json::array()}};
  for (size_t i = 0; i < body.texts.rows(); ++i) {
    const auto task = std::make_shared<ExplainTask>(ExplainTask{
        .text = {}, .k = std::min(choice.k(), kMostExplained), .labels = labels, .explained = {}});
    task->text.add(body.texts.row(i));
    chosen.service
        ->run(
            [task](Replica& replica) {
              task->explained = replica.explain(task->text, task->k, task->labels).front();
            },
            deadline)
        .wait();
    answer["predictions"].push_back(explanation(*task, model, choice, body.words));
  }
  return answer;
}

void answer_predict(Call& call, Api& api) {
  require_content_type(call, "application/json");
  PredictBody body = read_predict_body(call.body.read(), api.limits());
  if (!call.target.query.empty()) {
    const std::string& name = call.target.query.front().first;
    throw ApiError(400, name, "with a body of JSON {} stands in it: leave it out of the address",
                   shown(name));
  }
  const ChosenModel chosen = api.choose(body.wanted.model, "model");
  if (body.explain) {
    answer_json(call.response, explanations(body, chosen, api));
  } else {
    answer_json(call.response, predictions(std::move(body), chosen, api));
  }
}

}  // namespace

void add_predict_routes(Router& router, Api& api) {
  router.add("POST", "/v1/predict", {.query = {"model", "k", "threshold"}}, [&api](Call& call) {
    if (content_type(call) == "application/x-ndjson") {
      answer_bulk(call, api);
    } else {
      answer_predict(call, api);
    }
  });
}

}  // namespace elias::server
