// Exact one-vs-all: every label of every point is scored, and the k best are kept on the way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/label_scores.h"
#include "model/predictor.h"

namespace elias {

/// The best labels of a point so far; labels are offered in rising order.
class BestLabels {
 public:
  void start(size_t k);

  /// Offers labels [n], of which those with z not above a bar are passed over at once. `allowed`
  /// [L], or empty.
  void offer(std::span<const int32_t> labels, std::span<const float> z,
             std::span<const uint8_t> allowed);

  void write(std::span<int32_t> labels, std::span<float> scores);

 private:
  struct Entry : ScoredLabel {
    float z = 0;
  };
  void add(const Entry& entry);

  std::vector<Entry> heap_;  // the worst in front
  size_t k_ = 0;
  float bar_ = 0;
};

/// One thread's room for a scan. Memory does not grow with the number of labels.
class ExactScan {
 public:
  /// The k best labels of phi [n, D]. `allowed` [L] or empty. `listed`: if not empty, the labels of
  /// `allowed`, rising, to save reading the weights of all others.
  void rank(const Context& context, const PredictorWeights& weights, ConstTensorView phi, int64_t k,
            std::span<const uint8_t> allowed, std::span<const int32_t> listed,
            const RankedLabels& ranked);

 private:
  std::vector<int32_t> ids_;  // [n * block]
  std::vector<float> z_;
  std::vector<BestLabels> best_;  // [n]
};

}  // namespace elias
