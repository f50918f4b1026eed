#include "encoder/affine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

// What affine() computes is held to the reference of the encoder (bag_test.cc).

TEST(ColumnLengths, AreTheRootsOfSumsOfSquares) {
  ThreadPool pool(3);
  const int64_t V = 9001, D = 5;  // of several chunks
  const Tensor w = random_floats({V, D}, 1);
  const std::vector<double> values = values_of<double>(w);
  Tensor lengths({D}, DType::kFloat32);
  column_lengths(Context(pool), w, lengths);
  for (size_t d = 0; d < static_cast<size_t>(D); ++d) {
    double squares = 0;
    for (size_t i = d; i < values.size(); i += static_cast<size_t>(D)) {
      squares += values[i] * values[i];
    }
    EXPECT_NEAR(lengths.span<float>()[d], std::sqrt(squares), 1e-4);
  }
}

TEST(ColumnLengths, OfNoRowsAreZero) {
  ThreadPool pool(1);
  Tensor lengths = random_floats({3}, 1);
  column_lengths(Context(pool), Tensor({0, 3}, DType::kFloat32), lengths);
  for (const float length : lengths.span<float>()) EXPECT_EQ(length, 0);
}

TEST(ColumnLengthsThreads, SameBitsAtAnyThreadCount) {
  const Tensor w = random_floats({20000, 7}, 2);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.emplace_back(Shape{7}, DType::kFloat32);
    column_lengths(context, w, results[0]);
    return results;
  });
}

}  // namespace
}  // namespace elias
