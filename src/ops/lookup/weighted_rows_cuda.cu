#include "ops/lookup/weighted_rows.cuh"

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;

// A thread a vector of the result.
template <typename Vector>
__global__ void __launch_bounds__(kThreads, 4)
    sum_lists(const int32_t* offsets, const int32_t* points, const float* weights,
              Matrix<const float> source, int64_t vectors, int W, Matrix<float> sums) {
  const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= vectors) return;
  const int64_t row = place / W;
  const int64_t column = place % W;
  sums.row<Vector>(row)[column] = sum_terms<Vector>(
      offsets[row], offsets[row + 1], [=](int64_t e) { return points[e]; },
      [=](int64_t e) { return weights == nullptr ? 1 : weights[e]; }, source, column);
}

template <typename Vector>
void launch_sum_lists(ConstTensorView offsets, ConstTensorView points, ConstTensorView weights,
                      ConstTensorView source, TensorView sums) {
  const int W = static_cast<int>(sums.width() / kSize<Vector>);
  const int64_t vectors = sums.rows() * W;
  launch(sum_lists<Vector>, ceil_div<int64_t>(vectors, kThreads), dim3(kThreads),
         offsets.data<int32_t>(), points.data<int32_t>(), weights ? weights.data<float>() : nullptr,
         matrix(source), vectors, W, matrix(sums));
}

}  // namespace

void sum_weighted_rows(ConstTensorView offsets, ConstTensorView points, ConstTensorView weights,
                       ConstTensorView source, TensorView sums) {
  if (in_float4({source, sums})) {
    launch_sum_lists<float4>(offsets, points, weights, source, sums);
  } else {
    launch_sum_lists<float>(offsets, points, weights, source, sums);
  }
}

}  // namespace elias::cuda
