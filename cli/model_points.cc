#include "cli/model_points.h"

#include "base/errors.h"

namespace elias::cli {

void check_points(const SourceInfo& source, const Model& model) {
  if (model.tfidf() != nullptr && !source.has_text) {
    throw InputError(
        "{}: holds features, but the model takes texts: give a file of texts, or insist with lines "
        "as its format",
        source.name);
  }
  if (model.tfidf() == nullptr && !source.has_features) {
    throw InputError(
        "{}: holds texts, but the model takes features: give points as those that it was trained "
        "on",
        source.name);
  }
}

Csr model_features(const SourceInfo& source, const TextRows& texts, Csr features,
                   const Model& model, ThreadPool& pool) {
  if (model.tfidf() != nullptr) return model.tfidf()->transform(texts, pool);
  if (features.cols > model.features()) {
    throw InputError(
        "{}: has {} features, but the model was trained on {}: give points as those that it was "
        "trained on",
        source.name, features.cols, model.features());
  }
  features.cols = model.features();
  scale_rows_to_unit_length(features);
  return features;
}

TestPoints read_test_points(const std::string& path, const ReadOptions& reading, const Model& model,
                            ThreadPool& pool) {
  TestPoints points{.space = model.label_space(), .features = {}, .labels = {}};
  Dataset data = read_dataset(path, reading, points.space, pool);
  check_points(data.info, model);
  points.features = model_features(data.info, data.texts, std::move(data.features), model, pool);
  points.labels = std::move(data.labels);
  return points;
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
      predict_all(context, model.predictor(), points.features, options.cutoffs.deepest());
  const Training training = training_of(model, propensity_from_name("default"));
  return evaluate(points.labels, scores, &training, options, context.pool());
}

}  // namespace elias::cli
