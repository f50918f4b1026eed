// Weighted sums of rows on the GPU: what embedding bags, row gradients and sums by key come down
// to.
#pragma once

#include "ops/cuda/rows.cuh"

namespace elias::cuda {

/// Some vectors of a row that one thread has: those at first, first + kWarp, ...
template <typename Vector, int kVectors>
struct Strip {
  Vector at[kVectors];
};

/// The sum over e in [begin, end) of weight(e) * a strip of row point(e) of the source, the terms
/// added in their order; vectors beyond the W of a row are left zero. A negative point is an empty
/// place, but the source must have a row.
template <typename Vector, int kVectors, typename Point, typename Weight>
__device__ Strip<Vector, kVectors> sum_terms(int64_t begin, int64_t end, const Point& point,
                                             const Weight& weight, Matrix<const float> source,
                                             int64_t first, int64_t W) {
  Strip<Vector, kVectors> sum{};
  int64_t e = begin;
  // Several terms are read before the first is used, which hides the memory's latency.
  const auto add = [&](auto terms) {
    constexpr int kTerms = decltype(terms)::value;
    Vector vectors[kTerms][kVectors];
    float factors[kTerms];
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
      const int32_t row = point(e + t);
      const Vector* from = source.row<Vector>(max(row, 0));
      factors[t] = weight(e + t);
#pragma unroll
      for (int j = 0; j < kVectors; ++j) {
        const int64_t i = first + j * kWarp;
        // Read at an empty place too: behind a branch the next read would wait.
        const Vector vector = i < W ? from[i] : Vector{};
        vectors[t][j] = row < 0 ? Vector{} : vector;
      }
    }
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
#pragma unroll
      for (int j = 0; j < kVectors; ++j) {
#pragma unroll
        for (int p = 0; p < kSize<Vector>; ++p) {
          part(sum.at[j], p) += factors[t] * part(vectors[t][j], p);
        }
      }
    }
    e += kTerms;
  };
  constexpr int kAtOnce = kVectors == 1 ? 8 : 2;
  while (e + kAtOnce <= end) add(std::integral_constant<int, kAtOnce>());
  if constexpr (kAtOnce == 8) {
    if (e + 4 <= end) add(std::integral_constant<int, 4>());
    if (e + 2 <= end) add(std::integral_constant<int, 2>());
  }
  if (e < end) add(std::integral_constant<int, 1>());
  return sum;
}

/// How rows are cut into strips: a warp has kVectors vectors a lane of one row.
template <int kVectors>
struct StripCut {
  static constexpr int kRows = 8;  // strips of a block

  int64_t strips;  // of a row

  explicit StripCut(int64_t W) : strips(ceil_div<int64_t>(W, kVectors * kWarp)) {}

  static dim3 block() { return dim3(kWarp, kRows); }
  int64_t blocks(int64_t rows) const { return ceil_div<int64_t>(rows * strips, kRows); }
  /// The row of this thread, and the first of its vectors there.
  __device__ int64_t row() const { return strip() / strips; }
  __device__ int64_t first() const { return strip() % strips * (kVectors * kWarp) + threadIdx.x; }

 private:
  __device__ static int64_t strip() { return int64_t{blockIdx.x} * kRows + threadIdx.y; }
};

/// sums[r] = sum over e in [offsets[r], offsets[r + 1]) of weights[e] * source[points[e]], the
/// terms added in their order.
///   offsets [R + 1], points [n] int32, weights [n] or not given, source [N, D], sums [R, D].
void sum_weighted_rows(ConstTensorView offsets, ConstTensorView points, ConstTensorView weights,
                       ConstTensorView source, TensorView sums);

}  // namespace elias::cuda
