#include "ops/lookup/weighted_rows.cuh"

#include <algorithm>

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;

/// The lists of terms as kernels take them.
struct Lists {
  const int32_t* offsets;
  const int32_t* points;
  const float* weights;  // or none
  Matrix<const float> source;

  template <typename Vector, int kVectors>
  __device__ auto sum(int64_t row, int64_t first, int64_t W) const {
    return sum_terms<Vector, kVectors>(
        offsets[row], offsets[row + 1], [this](int64_t e) { return points[e]; },
        [this](int64_t e) { return weights == nullptr ? 1 : weights[e]; }, source, first, W);
  }
};

// A thread a vector of the result: many threads for few rows, whose terms are many.
template <typename Vector>
__global__ void __launch_bounds__(kThreads, 4)
    sum_long_lists(Lists lists, int64_t rows, int W, Matrix<float> sums) {
  const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int64_t row = place / W;
  const int64_t column = place % W;
  if (row >= rows) return;
  sums.row<Vector>(row)[column] = lists.sum<Vector, 1>(row, column, W).at[0];
}

// A warp a strip of the result: where terms are few, the way to them takes longer than they do, and
// is gone once for several vectors. What is written goes past the cache, where the source is.
template <typename Vector, int kVectors>
__global__ void __launch_bounds__(kThreads, 3)
    sum_short_lists(Lists lists, StripCut<kVectors> cut, int64_t rows, int W, Matrix<float> sums) {
  const int64_t row = cut.row();
  const int64_t first = cut.first();
  if (row >= rows) return;
  const auto sum = lists.sum<Vector, kVectors>(row, first, W);
#pragma unroll
  for (int j = 0; j < kVectors; ++j) {
    const int64_t i = first + j * kWarp;
    if (i < W) __stcs(sums.row<Vector>(row) + i, sum.at[j]);
  }
}

template <typename Vector>
void sum_long(const Lists& lists, TensorView sums) {
  const int W = static_cast<int>(sums.width() / kSize<Vector>);
  launch(sum_long_lists<Vector>, ceil_div<int64_t>(sums.rows() * W, kThreads), dim3(kThreads),
         lists, sums.rows(), W, matrix(sums));
}

void sum_short(const Lists& lists, bool vectors, TensorView sums) {
  with_row_shape(sums.width(), vectors, [&](auto shape, int W) {
    using Shape = decltype(shape);
    constexpr int kVectors = Shape::kHeld == 0 ? 4 : std::min(Shape::kHeld, 6);
    const StripCut<kVectors> cut(W);
    launch(sum_short_lists<typename Shape::Vector, kVectors>, cut.blocks(sums.rows()), cut.block(),
           lists, cut, sums.rows(), W, matrix(sums));
  });
}

}  // namespace

void sum_weighted_rows(ConstTensorView offsets, ConstTensorView points, ConstTensorView weights,
                       ConstTensorView source, TensorView sums) {
  const Lists lists{offsets.data<int32_t>(), points.data<int32_t>(),
                    weights ? weights.data<float>() : nullptr, matrix(source)};
  const bool vectors = in_float4({source, sums});
  if (points.shape().elements() < 4 * sums.rows()) return sum_short(lists, vectors, sums);
  vectors ? sum_long<float4>(lists, sums) : sum_long<float>(lists, sums);
}

}  // namespace elias::cuda
