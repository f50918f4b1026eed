// The rows with the largest inner products, slow and obvious.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "ops/tensor.h"

namespace elias::reference {

inline float value_at(ConstTensorView matrix, int64_t row, int64_t column) {
  const int64_t place = row * matrix.stride() + column;
  return matrix.dtype() == DType::kBFloat16 ? to_float(matrix.data<BFloat16>()[place])
                                            : matrix.data<float>()[place];
}

/// Values and ids of one point, best first; x is rounded where w is.
inline std::vector<std::pair<double, int32_t>> best_rows(ConstTensorView x, int64_t point,
                                                         ConstTensorView w, ConstTensorView bias,
                                                         std::span<const uint8_t> allowed) {
  const bool halves = w.dtype() == DType::kBFloat16;
  std::vector<std::pair<double, int32_t>> scored;
  for (int64_t row = 0; row < w.rows(); ++row) {
    if (!allowed.empty() && allowed[static_cast<size_t>(row)] == 0) continue;
    double sum = bias ? double{value_at(bias, 0, row)} : 0;
    for (int64_t d = 0; d < w.width(); ++d) {
      const float own = value_at(x, point, d);
      sum += double{halves ? to_float(to_bfloat16(own)) : own} * double{value_at(w, row, d)};
    }
    if (!std::isnan(sum)) scored.emplace_back(sum, static_cast<int32_t>(row));
  }
  std::ranges::sort(scored, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return scored;
}

}  // namespace elias::reference
