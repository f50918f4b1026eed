// Softmax and clamp on the GPU: a row is in registers for three passes (largest; sum of exp; scale
// and clamp), each of which computes the exp anew. Rows too long for that are read again from
// cache.
#include "ops/cuda/rows.cuh"
#include "ops/rows/softmax_clamp.h"

namespace elias::cuda {
namespace {

// What scores are taken relative to. For a row that is left out altogether this is any number but
// its own -infinity, so that every exp is zero.
__device__ float centre_of(float largest) { return largest == -INFINITY ? 0 : largest; }

template <typename Shape>
__global__ void softmax(Matrix<const float> z, float scale, int64_t rows, int W, Matrix<float> s,
                        float* log_sums) {
  using Vector = typename Shape::Vector;
  constexpr int kParts = kSize<Vector>;
  const int64_t row = Shape::row();
  if (row >= rows) return;
  const HeldRow<Shape> scores(z.row<Vector>(row), W);

  float largest = -INFINITY;
  scores.for_each([&](int, Vector score) {
    for (int p = 0; p < kParts; ++p) largest = fmaxf(largest, part(score, p));
  });
  const float centre = centre_of(reduce_row<Shape::kThreads>(largest, Max()));

  float sum = 0;
  scores.for_each([&](int, Vector score) {
    for (int p = 0; p < kParts; ++p) sum += expf(part(score, p) - centre);
  });
  sum = reduce_row<Shape::kThreads>(sum, Add());

  const float factor = sum == 0 ? 0 : scale / sum;
  Vector* to = s.row<Vector>(row);
  scores.for_each([&](int i, Vector score) {
    for (int p = 0; p < kParts; ++p) {
      const float value = expf(part(score, p) - centre) * factor;
      part(score, p) = value > 1 ? 1 : value;  // not fminf, which would make 1 of a NaN
    }
    to[i] = score;
  });
  if (threadIdx.x == 0) log_sums[row] = centre + logf(sum);
}

// With p = softmax(z) and g = scale * ds where scale * p <= 1, else 0: dz = p * (g - sum(g * p)).
template <typename Shape>
__global__ void backward(Matrix<const float> ds, Matrix<const float> z, const float* log_sums,
                         float scale, int64_t rows, int W, Matrix<float> dz) {
  using Vector = typename Shape::Vector;
  constexpr int kParts = kSize<Vector>;
  const int64_t row = Shape::row();
  if (row >= rows) return;
  const HeldRow<Shape> scores(z.row<Vector>(row), W);
  const HeldRow<Shape> gradients(ds.row<Vector>(row), W);
  const float centre = centre_of(log_sums[row]);
  const auto passed = [=](float probability, float gradient) {
    return scale * probability > 1 ? 0 : scale * gradient;
  };

  float mean = 0;
  scores.for_each_pair(gradients, [&](int, Vector score, Vector gradient) {
    for (int p = 0; p < kParts; ++p) {
      const float probability = expf(part(score, p) - centre);
      mean += passed(probability, part(gradient, p)) * probability;
    }
  });
  mean = reduce_row<Shape::kThreads>(mean, Add());

  Vector* to = dz.row<Vector>(row);
  scores.for_each_pair(gradients, [&](int i, Vector score, Vector gradient) {
    for (int p = 0; p < kParts; ++p) {
      const float probability = expf(part(score, p) - centre);
      part(score, p) = probability * (passed(probability, part(gradient, p)) - mean);
    }
    to[i] = score;
  });
}

}  // namespace

void softmax_clamp(const Context&, ConstTensorView z, float scale, TensorView s,
                   TensorView log_sum) {
  // Not rows(), which is 0 where there are no columns: a row of none has a log_sum too.
  const int64_t N = z.shape()[0];
  with_row_shape(z.width(), in_float4({z, s}), [&](auto shape, int W) {
    using Shape = decltype(shape);
    launch(softmax<Shape>, Shape::blocks(N), Shape::block(), matrix(z), scale, N, W, matrix(s),
           log_sum.data<float>());
  });
}

void softmax_clamp_backward(const Context&, ConstTensorView ds, ConstTensorView z,
                            ConstTensorView log_sum, float scale, TensorView dz) {
  const int64_t N = z.rows();
  with_row_shape(z.width(), in_float4({ds, z, dz}), [&](auto shape, int W) {
    using Shape = decltype(shape);
    launch(backward<Shape>, Shape::blocks(N), Shape::block(), matrix(ds), matrix(z),
           log_sum.data<float>(), scale, N, W, matrix(dz));
  });
}

}  // namespace elias::cuda
