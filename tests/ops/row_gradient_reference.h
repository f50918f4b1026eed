// A gradient of few rows multiplied out into all of dW, slow and obvious.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/lookup/row_gradient.h"

namespace elias::reference {

/// dW [V, D] of a gradient on the CPU.
template <typename T>
std::vector<T> dense(const RowGradient& gradient, int64_t V) {
  const int64_t D = gradient.source.width();
  std::vector<T> dw(V * D);
  for (int64_t r = 0; r < gradient.size(); ++r) {
    const int32_t row = gradient.rows.span<int32_t>()[r];
    const auto offsets = gradient.offsets.span<int32_t>();
    for (int32_t e = offsets[r]; e < offsets[r + 1]; ++e) {
      const int32_t point = gradient.points.span<int32_t>()[e];
      const float* from = gradient.source.data<float>() + point * gradient.source.stride();
      for (int64_t i = 0; i < D; ++i) {
        dw[row * D + i] += static_cast<T>(gradient.weights.span<float>()[e]) * from[i];
      }
    }
  }
  return dw;
}

/// The sums [V] of each row's weights.
template <typename T>
std::vector<T> dense_weights(const RowGradient& gradient, int64_t V) {
  std::vector<T> sums(V);
  for (int64_t r = 0; r < gradient.size(); ++r) {
    const auto offsets = gradient.offsets.span<int32_t>();
    for (int32_t e = offsets[r]; e < offsets[r + 1]; ++e) {
      sums[gradient.rows.span<int32_t>()[r]] += gradient.weights.span<float>()[e];
    }
  }
  return sums;
}

}  // namespace elias::reference
