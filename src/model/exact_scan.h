// Exact one-vs-all: every label of every point is scored, and the best are kept on the way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/listed_labels.h"
#include "model/predictor.h"

namespace elias {

/// One thread's room for a scan. Memory does not grow with the number of labels.
class ExactScan {
 public:
  /// The best labels of phi [n, D]. `allowed` [L] or empty. `listed`: if not empty, the labels of
  /// `allowed`, to save reading the weights of all others.
  void rank(const Context& context, const PredictorWeights& weights, ConstTensorView phi,
            std::span<const uint8_t> allowed, std::span<const int32_t> listed,
            const RankedLabels& ranked);

 private:
  std::vector<int32_t> ids_;  // [n, candidates]
  std::vector<float> values_;
  ListedLabels listed_;
};

}  // namespace elias
