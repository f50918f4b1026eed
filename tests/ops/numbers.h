// Random operands, comparison of results, and finite differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <span>
#include <vector>

#include "base/random.h"
#include "ops/tensor.h"

namespace elias {

/// Uniform in [low, high); the same for the same seed.
inline Tensor random_floats(Shape shape, uint64_t seed, float low = -1, float high = 1) {
  Tensor tensor(shape, DType::kFloat32);
  const Random random(seed, 0);
  const auto values = tensor.span<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = low + (high - low) * static_cast<float>(random.uniform(i));
  }
  return tensor;
}

/// Uniform in [0, bound).
inline Tensor random_ids(Shape shape, uint64_t seed, int32_t bound) {
  Tensor tensor(shape, DType::kInt32);
  const Random random(seed, 1);
  const auto values = tensor.span<int32_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int32_t>(random.below(i, bound));
  }
  return tensor;
}

/// The elements of a CPU tensor as T, for references in double.
template <typename T>
std::vector<T> values_of(ConstTensorView tensor) {
  const auto values = tensor.span<float>();
  return {values.begin(), values.end()};
}

template <typename T>
Tensor tensor_of(Shape shape, std::initializer_list<T> values) {
  Tensor tensor(shape, kDTypeOf<T>);
  std::copy(values.begin(), values.end(), tensor.span<T>().begin());
  return tensor;
}

/// Every element within `tolerance` of expected, taken relative to the largest expected magnitude
/// (so a result near zero by cancellation is held to the scale of its terms) or to 1.
inline void expect_near(ConstTensorView actual, std::span<const double> expected,
                        double tolerance) {
  const auto values = actual.span<float>();
  ASSERT_EQ(values.size(), expected.size());
  double scale = 1;
  for (const double value : expected) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (static_cast<double>(values[i]) == expected[i]) continue;  // infinities too
    ASSERT_NEAR(values[i], expected[i], tolerance * scale) << "at element " << i;
  }
}

/// Compares `gradient` of the scalar function loss(x) with central differences in double.
template <typename Loss>
void expect_gradient(const Loss& loss, std::vector<double> x, std::span<const double> gradient,
                     double step = 1e-5, double tolerance = 1e-7) {
  static_assert(std::same_as<decltype(loss(x)), double>);
  ASSERT_EQ(x.size(), gradient.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + step;
    const double above = loss(x);
    x[i] = at - step;
    const double below = loss(x);
    x[i] = at;
    const double expected = (above - below) / (2 * step);
    ASSERT_NEAR(gradient[i], expected, tolerance * std::max(1.0, std::abs(expected)))
        << "at element " << i;
  }
}

/// Sum of a[i] * b[i]: the loss whose gradient with respect to a is b.
inline double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace elias
