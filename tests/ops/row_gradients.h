// What tests of operators that return a RowGradient share.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "ops/lookup/row_gradient.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradient_reference.h"

namespace elias {

/// The gradient, wherever it is, multiplied out into dW [V, D] on the CPU. Its rows must rise.
inline Tensor dense_on_cpu(const RowGradient& gradient, int64_t V) {
  Tensor source = copy_to(Device::kCpu, gradient.source);
  if (source.dtype() == DType::kBFloat16) {
    Tensor floats(source.shape(), DType::kFloat32);
    const auto to = floats.span<float>();
    std::ranges::transform(source.span<BFloat16>(), to.begin(), to_float);
    source = std::move(floats);
  }
  const RowGradient here{
      copy_to(Device::kCpu, gradient.rows), copy_to(Device::kCpu, gradient.offsets),
      copy_to(Device::kCpu, gradient.points), copy_to(Device::kCpu, gradient.weights), source};
  const auto rows = here.rows.span<int32_t>();
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  EXPECT_EQ(std::ranges::adjacent_find(rows), rows.end());
  Tensor dense({V, source.shape()[1]}, DType::kFloat32);
  std::ranges::copy(reference::dense<float>(here, V), dense.span<float>().begin());
  return dense;
}

}  // namespace elias
