// The JSON of `elias evaluate --json`: shares, not percent, with all their digits.
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "report/evaluate_report.h"

namespace elias {
namespace {

using Json = nlohmann::ordered_json;

Json metrics_json(const std::vector<Metric>& metrics) {
  Json object = Json::object();
  for (const Metric& metric : metrics) object[metric.name] = metric.value;
  return object;
}

Json groups_json(const Evaluation& evaluation, const LabelDeciles& deciles) {
  Json list = Json::array();
  for (size_t g = 0; g < evaluation.groups.size(); ++g) {
    const auto& training = deciles.groups[g];
    const auto& figures = evaluation.groups[g];
    list.push_back({{"decile", g == LabelDeciles::kUnseen ? Json("unseen") : Json(g)},
                    {"labels", training.labels},
                    {"train_most", training.most},
                    {"train_fewest", training.fewest},
                    {"train_share", training.share},
                    {"true_labels", figures.labels},
                    {"true_pairs", figures.positives},
                    {"points", figures.rows},
                    {"metrics", metrics_json(figures.metrics)}});
  }
  return list;
}

Json calibration_json(const Calibration& calibration) {
  Json list = Json::array();
  for (const auto& bin : calibration.bins()) {
    list.push_back({{"pairs", bin.pairs}, {"true", bin.hits}, {"score_sum", bin.score_sum}});
  }
  return list;
}

Json file_json(const FileEvaluation& file, const LabelDeciles* deciles) {
  const Evaluation& result = file.result;
  Json object{{"file", file.name},
              {"predictions", result.predictions},
              {"points_without_predictions", result.rows_without_predictions},
              {"filtered", file.filtered},
              {"unknown_labels", file.unknown_labels},
              {"probabilities", result.probabilities}};
  if (result.threshold) object["threshold"] = shortest(*result.threshold);
  if (result.label_thresholds) object["threshold"] = "of the labels";
  object["metrics"] = metrics_json(result.metrics);
  if (result.probabilities) object["calibration"] = calibration_json(result.calibration);
  if (deciles && !result.groups.empty()) object["deciles"] = groups_json(result, *deciles);
  return object;
}

}  // namespace

Json evaluation_json(std::span<const FileEvaluation> files, const Training* training,
                     const LabelDeciles* deciles) {
  const Evaluation& first = files[0].result;
  Json object{{"points", first.rows},
              {"points_without_true_labels", first.rows_without_positives},
              {"true_pairs", first.positives},
              {"true_labels", first.labels}};
  if (training) {
    object["propensity"] = {{"name", training->propensity.name},
                            {"A", training->propensity.a},
                            {"B", training->propensity.b},
                            {"train_points", training->points}};
    object["unseen_true_pairs"] = first.unseen_positives;
    object["points_all_unseen"] = first.rows_all_unseen;
  }
  object["files"] = Json::array();
  for (const auto& file : files) object["files"].push_back(file_json(file, deciles));
  return object;
}

}  // namespace elias
