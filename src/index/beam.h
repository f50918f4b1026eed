// The best clusters of points, s = clamp(alpha softmax(W_C phi + b_C)) (ELIAS, eq. 1).
//
// They are chosen by their logits: where alpha is above the beam, more clusters than it has places
// may be clamped to 1, and among these their ids would decide.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "ops/product/linear.h"
#include "ops/tensor.h"

namespace elias {

/// One thread's room for it. Memory is that of the largest call so far.
class Beam {
 public:
  /// The b best clusters; 1 <= b <= C.
  Beam(int64_t b, float alpha) : b_(b), alpha_(alpha) {}

  /// For phi [n, D].
  void find(const Context& context, const PackedWeights& clusters, ConstTensorView bias,
            ConstTensorView phi);

  /// Of the last call, point i: [b], best first.
  std::span<const int32_t> clusters(int64_t i) const;
  std::span<const float> scores(int64_t i) const;
  /// [C], those outside the beam too.
  std::span<const float> all_scores(int64_t i) const;
  /// Of all its points, [n, b].
  ConstTensorView clusters() const { return best_clusters_.view().slice(0, points_); }
  ConstTensorView scores() const { return best_scores_.view().slice(0, points_); }

 private:
  int64_t b_;
  float alpha_;
  int64_t points_ = 0;
  Tensor scores_;                       // [n, C]
  Tensor log_sums_;                     // [n]
  Tensor best_scores_, best_clusters_;  // [n, b]
};

}  // namespace elias
