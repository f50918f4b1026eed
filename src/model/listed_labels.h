// The exact scores of labels that are named: the last step of every search that has no path scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/label_scores.h"
#include "model/predictor.h"

namespace elias {

/// One thread's room.
class ListedLabels {
 public:
  /// Of `listed`, all different, the best for each point of phi [n, D], by sigmoid(w_l . phi +
  /// b_l): of a NaN it is 0.
  void rank(const Context& context, const PredictorWeights& weights, ConstTensorView phi,
            std::span<const int32_t> listed, const RankedLabels& ranked);

 private:
  std::vector<float> z_;
  std::vector<ScoredLabel> scored_;
};

}  // namespace elias
