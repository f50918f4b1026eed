// Row gradients on the GPU.
#include "ops/lookup/row_gradient.h"
#include "ops/lookup/weighted_rows.cuh"

namespace elias::cuda {
namespace {

constexpr int kRowsPerBlock = 8;  // a warp each

__global__ void sum_weights(const int32_t* offsets, const float* weights, int64_t R, float* sums) {
  const int64_t row = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y;
  if (row >= R) return;
  float sum = 0;
  for (int32_t e = offsets[row] + threadIdx.x; e < offsets[row + 1]; e += kWarp) sum += weights[e];
  sum = reduce_warp(sum, Add());
  if (threadIdx.x == 0) sums[row] = sum;
}

}  // namespace

void expand_rows(const Context&, const RowGradient& gradient, TensorView values) {
  sum_weighted_rows(gradient.offsets, gradient.points, gradient.weights, gradient.source, values);
}

void sum_row_weights(const Context&, const RowGradient& gradient, TensorView sums) {
  const int64_t R = gradient.size();
  launch(sum_weights, ceil_div<int64_t>(R, kRowsPerBlock), dim3(kWarp, kRowsPerBlock),
         gradient.offsets.view().data<int32_t>(), gradient.weights.view().data<float>(), R,
         sums.data<float>());
}

}  // namespace elias::cuda
