// Losses on drawn labels by their definition, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "head/sampled_losses.h"

namespace elias::reference {

inline bool is_own(const CsrRow& row, int32_t label) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (row.columns[i] == static_cast<uint32_t>(label)) return row.values[i] > 0;
  }
  return false;
}

/// The losses of all points by their definition. Scores [N, R].
inline double sampled_losses(const SampledLossOptions& options, const BatchLabels& labels,
                             const DrawnLabels& drawn, const std::vector<double>& scores) {
  const size_t R = drawn.labels.size();
  double sum = 0;
  for (size_t i = 0; i < drawn.own.size(); ++i) {
    if (drawn.own[i] == DrawnLabels::kNone) continue;
    const double own = scores[i * R + static_cast<size_t>(drawn.own[i])];
    std::vector<double> against;
    for (size_t r = 0; r < R; ++r) {
      if (!is_own(labels.row(i), drawn.labels[r])) against.push_back(scores[i * R + r]);
    }
    std::ranges::sort(against, std::greater<>());
    if (options.mined > 0 && against.size() > static_cast<size_t>(options.mined)) {
      against.resize(static_cast<size_t>(options.mined));
    }
    double powers = 1;
    for (const double score : against) {
      if (options.kind == SampledLoss::kMargin) {
        sum += std::max(0.0, score - own + double{options.margin});
      }
      powers += std::exp(score - own);
    }
    if (options.kind == SampledLoss::kSoftmax) sum += std::log(powers);
  }
  return sum;
}

}  // namespace elias::reference
