// The scores of shortlists on the GPU: a warp keeps a point in its registers and reads one label
// vector after the other, so that the label vectors are all that is read from memory.
#include "ops/lookup/gather_dot.h"
#include "ops/lookup/weighted_rows.cuh"

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPlaces = 8;  // of one point, for each warp

struct Ids {
  const int32_t* data;  // [N, K]
  int64_t stride;
  int64_t K;
};

template <typename Shape>
__global__ void __launch_bounds__(kThreads, 4)
    score(Matrix<const float> x, Matrix<const float> w, const float* bias, Ids ids, int64_t N,
          int W, Matrix<float> z) {
  using Vector = typename Shape::Vector;
  const int64_t pieces = ceil_div<int64_t>(ids.K, kPlaces);
  const int64_t task = Shape::row();
  if (task >= N * pieces) return;
  const int64_t point = task / pieces;
  const int64_t first = task % pieces * kPlaces;
  const int places = static_cast<int>(min(int64_t{kPlaces}, ids.K - first));
  const HeldRow<Shape> values(x.row<Vector>(point), W);

  // Lane p has the id and the score of place p.
  const int lane = threadIdx.x;
  const int32_t own_id = lane < places ? ids.data[point * ids.stride + first + lane] : -1;
  float own_score = own_id < 0 || bias == nullptr ? 0 : bias[own_id];
  for (int place = 0; place < places; ++place) {
    const int32_t id = __shfl_sync(~0U, own_id, place);
    if (id < 0) continue;
    const Vector* label = w.row<Vector>(id);
    float sum = 0;
    values.for_each([&](int i, Vector value) {
      Vector factor = label[i];
      for (int p = 0; p < kSize<Vector>; ++p) sum += part(value, p) * part(factor, p);
    });
    sum = reduce_warp(sum, Add());
    if (lane == place) own_score += sum;
  }
  if (lane < places) z.row<float>(point)[first + lane] = own_score;
}

// A thread a vector of dx.
template <typename Vector>
__global__ void __launch_bounds__(kThreads, 4)
    sum_labels(Matrix<const float> dz, Matrix<const float> w, Ids ids, int64_t vectors, int W,
               Matrix<float> dx) {
  const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= vectors) return;
  const int64_t point = place / W;
  const int64_t column = place % W;
  const int32_t* id = ids.data + point * ids.stride;
  const float* weight = dz.row<float>(point);
  const auto sum = sum_terms<Vector, 1>(
      0, ids.K, [=](int64_t k) { return id[k]; }, [=](int64_t k) { return weight[k]; }, w, column,
      W);
  dx.row<Vector>(point)[column] = sum.at[0];
}

template <typename Vector>
void launch_sum_labels(ConstTensorView dz, ConstTensorView w, Ids ids, TensorView dx) {
  const int W = static_cast<int>(dx.width() / kSize<Vector>);
  const int64_t vectors = dx.rows() * W;
  launch(sum_labels<Vector>, ceil_div<int64_t>(vectors, kThreads), dim3(kThreads), matrix(dz),
         matrix(w), ids, vectors, W, matrix(dx));
}

__global__ void find_terms(const int32_t* positions, int64_t n, int32_t K, Matrix<const float> dz,
                           int32_t* term_points, float* term_weights) {
  const int64_t e = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (e >= n) return;
  const int32_t point = positions[e] / K;
  term_points[e] = point;
  term_weights[e] = dz.row<float>(point)[positions[e] % K];
}

// The same ids without gaps between the rows.
Tensor without_gaps(ConstTensorView ids) {
  Tensor dense(ids.shape(), DType::kInt32, Device::kCuda);
  const size_t width = ids.width() * sizeof(int32_t);
  check_call(cudaMemcpy2DAsync(dense.view().bytes(), width, ids.bytes(),
                               ids.stride() * sizeof(int32_t), width, ids.rows(),
                               cudaMemcpyDeviceToDevice, stream()));
  return dense;
}

}  // namespace

void gather_dot(const Context&, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
                ConstTensorView ids, TensorView z) {
  const int64_t N = ids.shape()[0];
  const Ids places{ids.data<int32_t>(), ids.stride(), ids.width()};
  const int64_t tasks = N * ceil_div<int64_t>(places.K, kPlaces);
  with_row_shape(w.width(), in_float4({x, w}), [&](auto shape, int W) {
    using Fitting = decltype(shape);
    // Long vectors too are a warp's, which then reads the point again from cache.
    using Shape = std::conditional_t<Fitting::kThreads == kWarp, Fitting,
                                     RowShape<typename Fitting::Vector, kWarp, 0>>;
    launch(score<Shape>, Shape::blocks(tasks), Shape::block(), matrix(x), matrix(w),
           bias ? bias.data<float>() : nullptr, places, N, W, matrix(z));
  });
}

void gather_dot_input_gradient(const Context&, ConstTensorView dz, ConstTensorView w,
                               ConstTensorView ids, TensorView dx) {
  // Without labels every place is an empty one.
  const int64_t K = w.shape()[0] == 0 ? 0 : ids.width();
  const Ids places{ids.data<int32_t>(), ids.stride(), K};
  if (in_float4({w, dx})) {
    launch_sum_labels<float4>(dz, w, places, dx);
  } else {
    launch_sum_labels<float>(dz, w, places, dx);
  }
}

RowGradient gather_dot_weight_gradient(const Context& context, ConstTensorView dz,
                                       ConstTensorView x, ConstTensorView ids, int64_t L) {
  const Tensor dense = ids.contiguous() ? Tensor() : without_gaps(ids);
  KeyGroups groups = elias::group_by_key(context, dense ? ConstTensorView(dense) : ids, L);
  const int64_t n = groups.positions.shape()[0];
  RowGradient gradient;
  gradient.points = Tensor({n}, DType::kInt32, Device::kCuda);
  gradient.weights = Tensor({n}, DType::kFloat32, Device::kCuda);
  gradient.source = x;
  launch(find_terms, ceil_div<int64_t>(n, kThreads), dim3(kThreads),
         groups.positions.view().data<int32_t>(), n, static_cast<int32_t>(ids.width()), matrix(dz),
         gradient.points.view().data<int32_t>(), gradient.weights.view().data<float>());
  gradient.rows = std::move(groups.keys);
  gradient.offsets = std::move(groups.offsets);
  return gradient;
}

}  // namespace elias::cuda
