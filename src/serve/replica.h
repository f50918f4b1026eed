// One worker's own side of a model: its room for predictions and explanations, on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/scored_label.h"
#include "data/text_rows.h"
#include "model/allowed_labels.h"
#include "model/explain.h"
#include "serve/served_model.h"

namespace elias {

/// Labels of one text, best first.
using RankedRow = std::vector<ScoredLabel>;

class Replica {
 public:
  explicit Replica(std::shared_ptr<const ServedModel> served);

  const Model& model() const { return served_->model(); }

  /// A row a text, of at most k labels.
  std::vector<RankedRow> predict(const TextRows& texts, int64_t k, const AllowedLabels& allowed);

  /// Of each text the k best labels, or `labels`, explained; see Explainer.
  std::vector<std::vector<ExplainedLabel>> explain(const TextRows& texts, int64_t k,
                                                   std::span<const uint32_t> labels = {});

 private:
  std::shared_ptr<const ServedModel> served_;
  ThreadPool alone_{1};
  Context context_{alone_};
  std::unique_ptr<Predictor::State> state_;
  std::optional<Explainer> explainer_;  // made when it is first needed
  std::vector<int32_t> labels_;         // [n * k]
  std::vector<float> scores_;           // [n * k]
};

}  // namespace elias
