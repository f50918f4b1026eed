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
  return features;
}

}  // namespace elias::cli
