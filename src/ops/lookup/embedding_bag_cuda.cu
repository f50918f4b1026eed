// Embedding bags on the GPU.
#include "ops/lookup/embedding_bag.h"
#include "ops/lookup/weighted_rows.cuh"

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;

// The point and weight of each of the n grouped features. A point's features are a range of
// positions, so the point is found by bisection of the offsets [N + 1].
__global__ void find_terms(const int32_t* positions, int64_t n, const int32_t* offsets, int32_t N,
                           const float* weights, int32_t* term_points, float* term_weights) {
  const int64_t e = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (e >= n) return;
  const int32_t position = positions[e];
  int32_t low = 0;  // offsets[low] <= position < offsets[high]
  int32_t high = N;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (offsets[middle] <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  term_points[e] = low;
  term_weights[e] = weights[position];
}

}  // namespace

void embedding_bag(const Context&, const Bags& bags, ConstTensorView table, TensorView y) {
  sum_weighted_rows(bags.offsets, bags.ids, bags.weights, table, y);
}

RowGradient embedding_bag_backward(const Context& context, const Bags& bags, ConstTensorView dy,
                                   int64_t V) {
  KeyGroups groups = elias::group_by_key(context, bags.ids, V);
  const int64_t n = groups.positions.shape()[0];
  RowGradient gradient;
  gradient.points = Tensor({n}, DType::kInt32, Device::kCuda);
  gradient.weights = Tensor({n}, DType::kFloat32, Device::kCuda);
  gradient.source = dy;
  launch(find_terms, ceil_div<int64_t>(n, kThreads), dim3(kThreads),
         groups.positions.view().data<int32_t>(), n, bags.offsets.data<int32_t>(),
         static_cast<int32_t>(dy.shape()[0]), bags.weights.data<float>(),
         gradient.points.view().data<int32_t>(), gradient.weights.view().data<float>());
  gradient.rows = std::move(groups.keys);
  gradient.offsets = std::move(groups.offsets);
  return gradient;
}

}  // namespace elias::cuda
