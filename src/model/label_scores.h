// The final score of a label, the same for every way to find it, and the best of scored labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "data/scored_label.h"

namespace elias {

/// Never falls where z rises, which a scan over all labels relies on. Of a NaN it is 0.
inline float sigmoid(float z) { return std::isnan(z) ? 0 : 1 / (1 + std::exp(-z)); }

/// sigmoid(z) * yhat^gamma, 0 < yhat <= 1, in logarithms: a product of tiny factors keeps its
/// precision, and gamma = 0 leaves any yhat out.
inline float final_score(float z, float yhat, float gamma) {
  if (gamma == 0 || std::isnan(z)) return sigmoid(z);
  const float log_sigmoid = std::min(z, 0.0F) - std::log1p(std::exp(-std::abs(z)));
  return std::exp(gamma * std::log(yhat) + log_sigmoid);
}

/// Writes the best of `candidates`, which are put out of order, into k places; -1 and 0 into those
/// that are left.
template <typename Scored>
void write_best(std::span<Scored> candidates, std::span<int32_t> labels, std::span<float> scores) {
  const size_t count = std::min(candidates.size(), labels.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(count),
                    candidates.end(), is_better);
  for (size_t i = 0; i < labels.size(); ++i) {
    const ScoredLabel best = i < count ? ScoredLabel(candidates[i]) : ScoredLabel{};
    labels[i] = best.label;
    scores[i] = best.score;
  }
}

}  // namespace elias
