// Rates, row gradients and tolerances for the tests of optimisers that leave rows alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/random.h"
#include "ops/lookup/row_gradient.h"
#include "ops/update/rate_history.h"
#include "tests/ops/numbers.h"

namespace elias {

/// Linear from 0 up to `top` over the first tenth of the steps, then linear down to 0.
inline std::vector<float> warm_up_and_decay(int64_t steps, float top) {
  std::vector<float> rates;
  for (int64_t step = 0; step < steps; ++step) {
    const double done = static_cast<double>(step) / static_cast<double>(steps);
    rates.push_back(static_cast<float>(top * std::min(done / 0.1, (1 - done) / 0.9)));
  }
  return rates;
}

inline Tensor ids_of(const std::vector<int32_t>& ids) {
  Tensor tensor({static_cast<int64_t>(ids.size())}, DType::kInt32);
  std::ranges::copy(ids, tensor.span<int32_t>().begin());
  return tensor;
}

inline Tensor all_rows(int64_t V) {
  Tensor tensor({V}, DType::kInt32);
  for (int64_t row = 0; row < V; ++row) tensor.span<int32_t>()[row] = static_cast<int32_t>(row);
  return tensor;
}

/// The rows of V that one step touches: row 0 always, row 1 never, row r every r-th step on the
/// average.
inline std::vector<int32_t> touched_rows(int64_t V, uint64_t step) {
  std::vector<int32_t> rows;
  const Random random(11, step);
  for (int64_t row = 0; row < V; ++row) {
    const bool touched = row > 1 && random.below(row, row) == 0;
    if (row == 0 || touched) rows.push_back(static_cast<int32_t>(row));
  }
  return rows;
}

/// A gradient of these rows, each of 1 to 3 terms, from random rows of source [N, D].
inline RowGradient gradient_of(const std::vector<int32_t>& rows, uint64_t seed,
                               ConstTensorView source) {
  RowGradient gradient;
  gradient.rows = ids_of(rows);
  std::vector<int32_t> offsets{0};
  RandomSequence random(seed, 12);
  for (size_t r = 0; r < rows.size(); ++r) {
    offsets.push_back(offsets.back() + 1 + static_cast<int32_t>(random.below(3)));
  }
  gradient.offsets = ids_of(offsets);
  gradient.points = random_ids({offsets.back()}, seed, static_cast<int32_t>(source.shape()[0]));
  gradient.weights = random_floats({offsets.back()}, seed);
  gradient.source = source;
  return gradient;
}

inline RowGradient moved_to(Device device, const RowGradient& gradient, ConstTensorView source) {
  return {copy_to(device, gradient.rows), copy_to(device, gradient.offsets),
          copy_to(device, gradient.points), copy_to(device, gradient.weights), source};
}

/// Every weight within `share` of the way it travelled, and `rounding` of itself, of expected.
inline void expect_arrived(ConstTensorView actual, std::span<const double> expected,
                           std::span<const double> travel, double share, double rounding) {
  const auto values = actual.span<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double start = std::abs(expected[i]) + travel[i];  // it came from no farther away
    ASSERT_NEAR(values[i], expected[i], share * travel[i] + rounding * start)
        << "at element " << i << ", which travelled " << travel[i];
  }
}

/// Every value within `share` of itself, or below the smallest normal float.
inline void expect_relative(ConstTensorView actual, std::span<const double> expected,
                            double share) {
  const auto values = actual.span<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], share * std::abs(expected[i]) + 1.2e-38)
        << "at element " << i;
  }
}

}  // namespace elias
