#include "report/model_points.h"

#include <algorithm>

#include "base/errors.h"

namespace elias {
namespace {

[[noreturn]] void fail_width(const SourceInfo& source, uint64_t features, const Model& model) {
  throw InputError(
      "{}: has {} features, but the model was trained on {}: give points as those that it was "
      "trained on",
      source.name, features, model.features());
}

// A model that was trained with a label file can tell ids from names, others have one of them.
void check_label_form(LabelForm wanted, const LabelSpace& space) {
  if (space.closed() || wanted == LabelForm::kUnknown || wanted == space.form()) return;
  const bool ids = space.form() == LabelForm::kIds;
  throw InputError("--label-form {}: the labels of the model are {}: give points with {}",
                   ids ? "names" : "ids", ids ? "ids" : "names", ids ? "ids" : "names");
}

void check_labels(const TestPoints& points, const std::string& path, const Model& model) {
  const auto known = [&](uint32_t label) { return label < model.labels(); };
  const auto& labels = points.labels.columns;
  if (labels.empty() || std::any_of(labels.begin(), labels.end(), known)) return;
  throw InputError(
      "{}: the model knows none of its labels, {} is the first: give points labelled as those that "
      "it was trained on",
      path, shown(points.space.name(LabelId(labels[0]))));
}

}  // namespace

void check_points(const SourceInfo& source, const Model& model) {
  if (model.tfidf() != nullptr && !source.has_text) {
    throw InputError(
        "{}: holds features, but the model takes texts: give points as those that it was trained "
        "on",
        source.name);
  }
  if (model.tfidf() == nullptr && !source.has_features) {
    throw InputError(
        "{}: holds texts, but the model takes features: give points as those that it was trained "
        "on",
        source.name);
  }
  const auto promised = source.promised_features;
  if (promised && *promised != model.features()) fail_width(source, *promised, model);
}

Points model_points(const SourceInfo& source, const TextRows& texts, Csr features,
                    const Model& model, ThreadPool& pool) {
  if (model.tfidf() != nullptr) return model.points_of(texts, pool);
  // Rows of numbers without a header may well lack the last features.
  if (features.cols > model.features()) fail_width(source, features.cols, model);
  features.cols = model.features();
  scale_rows_to_unit_length(features);
  return {.features = std::move(features), .tokens = {}};
}

TestPoints read_test_points(const std::string& path, ReadOptions reading, const Model& model,
                            ThreadPool& pool) {
  if (model.tfidf() != nullptr) reading.lines_argument = "--format lines";
  TestPoints points{.space = model.label_space(), .points = {}, .labels = {}};
  check_label_form(reading.label_form, points.space);
  Dataset data = read_dataset(path, reading, points.space, pool);
  check_points(data.info, model);
  points.points = model_points(data.info, data.texts, std::move(data.features), model, pool);
  points.labels = std::move(data.labels);
  check_labels(points, path, model);
  return points;
}

int64_t most_found(const Model& model) {
  int64_t sum = 0;
  for (const Member& member : model.members()) sum += member.search.shortlist;
  return std::min(sum, static_cast<int64_t>(model.labels()));
}

Training training_of(const Model& model, const Propensity& propensity) {
  const auto counts = model.label_counts();
  return {
      .points = model.points(), .counts = {counts.begin(), counts.end()}, .propensity = propensity};
}

Evaluation evaluate_on(const TestPoints& points, const Model& model, const Context& context) {
  EvaluateOptions options;
  options.groups = true;
  const Csr scores =
      predict_all(context, model.predictor(), points.points, options.cutoffs.deepest());
  const Training training = training_of(model, propensity_from_name("default"));
  return evaluate(points.labels, scores, &training, options, context.pool());
}

}  // namespace elias
