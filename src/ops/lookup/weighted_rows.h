// Weighted sums of rows on the CPU: what embedding bags, row gradients and sums by key come down
// to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias::cpu {

/// A list of n terms: term e is weights[e] * row points[e] of a matrix.
struct WeightedRows {
  const int32_t* points;  // [n]; a negative one is an empty place
  const float* weights;   // [n], or null: all are 1
  size_t size;            // n
  const float* source;    // rows of `width` values, `stride` apart
  size_t stride;
  size_t width;
};

/// sums[r] = sum over e in [offsets[r], offsets[r + 1]) of weights[e] * source[points[e]], the
/// terms added in their order.
///   offsets [R + 1], points [n] int32, weights [n] or not given, source [N, D], sums [R, D].
void sum_weighted_rows(const Context& context, ConstTensorView offsets, ConstTensorView points,
                       ConstTensorView weights, ConstTensorView source, TensorView sums);

}  // namespace elias::cpu
