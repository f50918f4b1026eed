// Weighted sums of rows on the GPU: what embedding bags, row gradients and sums by key come down
// to.
#pragma once

#include "ops/cuda/rows.cuh"

namespace elias::cuda {

/// The sum over e in [begin, end) of weight(e) * vector `column` of row point(e) of the source, the
/// terms added in their order. A negative point is an empty place, but the source must have a row.
template <typename Vector, typename Point, typename Weight>
__device__ Vector sum_terms(int64_t begin, int64_t end, const Point& point, const Weight& weight,
                            Matrix<const float> source, int64_t column) {
  Vector sum{};
  const auto add = [&](float factor, Vector vector) {
#pragma unroll
    for (int p = 0; p < kSize<Vector>; ++p) part(sum, p) += factor * part(vector, p);
  };
  const auto read = [&](int32_t row) {
    const Vector vector = source.row<Vector>(max(row, 0))[column];
    return row < 0 ? Vector{} : vector;  // not a branch, behind which the next read would wait
  };
  // Eight terms are read before the first is used, which hides the memory's latency.
  constexpr int kBatch = 8;
  int64_t e = begin;
  for (; e + kBatch <= end; e += kBatch) {
    Vector vectors[kBatch];
    float factors[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      factors[j] = weight(e + j);
      vectors[j] = read(point(e + j));
    }
#pragma unroll
    for (int j = 0; j < kBatch; ++j) add(factors[j], vectors[j]);
  }
  for (; e < end; ++e) add(weight(e), read(point(e)));
  return sum;
}

/// sums[r] = sum over e in [offsets[r], offsets[r + 1]) of weights[e] * source[points[e]], the
/// terms added in their order.
///   offsets [R + 1], points [n] int32, weights [n] or not given, source [N, D], sums [R, D].
void sum_weighted_rows(ConstTensorView offsets, ConstTensorView points, ConstTensorView weights,
                       ConstTensorView source, TensorView sums);

}  // namespace elias::cuda
