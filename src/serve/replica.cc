#include "serve/replica.h"

#include <algorithm>
#include <utility>

namespace elias {

Replica::Replica(std::shared_ptr<const ServedModel> served)
    : served_(std::move(served)), state_(model().predictor().make_state()) {}

std::vector<RankedRow> Replica::predict(const TextRows& texts, int64_t k,
                                        const AllowedLabels& allowed) {
  const Predictor& predictor = model().predictor();
  const size_t n = texts.rows();
  const auto places = static_cast<size_t>(std::min(k, predictor.labels()));
  labels_.resize(n * places);
  scores_.resize(n * places);
  const Points points = model().points_of(texts, alone_);
  predictor.predict(context_, points, 0, n, static_cast<int64_t>(places), allowed, *state_,
                    {labels_, scores_});
  std::vector<RankedRow> rows(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t place = i * places; place < (i + 1) * places && labels_[place] >= 0; ++place) {
      rows[i].push_back({.score = scores_[place], .label = labels_[place]});
    }
  }
  return rows;
}

std::vector<std::vector<ExplainedLabel>> Replica::explain(const TextRows& texts, int64_t k,
                                                          std::span<const uint32_t> labels) {
  if (!explainer_) explainer_.emplace(context_, model());
  const Points points = model().points_of(texts, alone_);
  std::vector<std::vector<ExplainedLabel>> rows;
  rows.reserve(texts.rows());
  for (size_t i = 0; i < texts.rows(); ++i) {
    rows.push_back(
        explainer_->explain(points, i, std::min(k, model().predictor().labels()), labels));
  }
  return rows;
}

}  // namespace elias
