// Layer norm on the GPU: a row is in the registers of a warp or, if long, of a block, for all
// passes over it. Rows too long for that are read again from cache.
#include "ops/cuda/column_sums.cuh"
#include "ops/cuda/rows.cuh"
#include "ops/rows/layer_norm.h"

namespace elias::cuda {
namespace {

struct Statistics {
  float* mean;
  float* inverse;
};

template <typename Shape>
__global__ void normalise(Matrix<const float> x, const float* gain, const float* bias,
                          float epsilon, int64_t rows, int W, Matrix<float> y, Statistics saved) {
  using Vector = typename Shape::Vector;
  constexpr int kParts = kSize<Vector>;
  const int64_t row = Shape::row();
  if (row >= rows) return;
  const float per_value = 1.0F / static_cast<float>(W * kParts);
  const HeldRow<Shape> values(x.row<Vector>(row), W);

  float sum = 0;
  values.for_each([&](int, Vector value) {
    for (int p = 0; p < kParts; ++p) sum += part(value, p);
  });
  const float mean = reduce_row<Shape::kThreads>(sum, Add()) * per_value;

  float squares = 0;
  values.for_each([&](int, Vector value) {
    for (int p = 0; p < kParts; ++p) {
      const float away = part(value, p) - mean;
      squares += away * away;
    }
  });
  const float variance = reduce_row<Shape::kThreads>(squares, Add()) * per_value;
  const float inverse = 1.0F / sqrtf(variance + epsilon);

  Vector* to = y.row<Vector>(row);
  values.for_each([&](int i, Vector value) {
    Vector scale = reinterpret_cast<const Vector*>(gain)[i];
    Vector shift = reinterpret_cast<const Vector*>(bias)[i];
    for (int p = 0; p < kParts; ++p) {
      part(value, p) = (part(value, p) - mean) * inverse * part(scale, p) + part(shift, p);
    }
    to[i] = value;
  });
  if (threadIdx.x == 0) {
    saved.mean[row] = mean;
    saved.inverse[row] = inverse;
  }
}

/// A block's rows, and where the sums of its dgain [D] and dbias [D] go.
struct Chunk {
  int64_t begin;
  int64_t end;
  float* dgain;
  float* dbias;

  __device__ Chunk(int64_t rows, int64_t grain, int64_t D, float* partial)
      : begin(blockIdx.x * grain),
        end(min(begin + grain, rows)),
        dgain(partial + int64_t{blockIdx.x} * 2 * D),
        dbias(dgain + D) {}
};

// How a block goes about its rows: four warps, a row each at a time, or all threads a row.
template <typename Shape>
inline constexpr int kRowsAtATime = Shape::kThreads == kWarp ? 4 : 1;

// to [W] = the sums of those who had a row at a time each, in their order.
template <typename Shape>
__device__ void add_up(const float4 (&own)[Shape::kHeld], int W, float* to) {
  constexpr int kAtATime = kRowsAtATime<Shape>;
  __shared__ float4 all[kAtATime][Shape::kHeld * Shape::kThreads];
  __syncthreads();  // others may still read what was here before
#pragma unroll
  for (int j = 0; j < Shape::kHeld; ++j) {
    all[threadIdx.y][threadIdx.x + j * Shape::kThreads] = own[j];
  }
  __syncthreads();
  const int first = threadIdx.y * Shape::kThreads + threadIdx.x;
  for (int i = first; i < W; i += kAtATime * Shape::kThreads) {
    float4 sum = all[0][i];
    for (int other = 1; other < kAtATime; ++other) {
      for (int p = 0; p < 4; ++p) part(sum, p) += part(all[other][i], p);
    }
    reinterpret_cast<float4*>(to)[i] = sum;
  }
}

// With u = (x - mean) * inverse and g = dy * gain: dx = inverse * (g - mean(g) - u * mean(g * u)).
// The sums of dy * u and of dy over the rows stay in registers, too.
template <typename Shape>
__global__ void __launch_bounds__(Shape::kThreads* kRowsAtATime<Shape>,
                                  Shape::kThreads == kWarp ? 3 : 1)
    backward_held(Matrix<const float> dy, Matrix<const float> x, const float* gain,
                  Statistics saved, int64_t rows, int64_t grain, int W, Matrix<float> dx,
                  float* partial) {
  constexpr int kHeld = Shape::kHeld;
  const Chunk chunk(rows, grain, 4 * W, partial);
  const float per_value = 1.0F / static_cast<float>(4 * W);
  float4 dgain[kHeld] = {};
  float4 dbias[kHeld] = {};
  for (int64_t row = chunk.begin + threadIdx.y; row < chunk.end; row += kRowsAtATime<Shape>) {
    float4 g[kHeld];  // at first dy
    float4 u[kHeld];  // at first x
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
      const int i = threadIdx.x + j * Shape::kThreads;
      g[j] = i < W ? dy.row<float4>(row)[i] : float4{};
      u[j] = i < W ? x.row<float4>(row)[i] : float4{};
    }
    const float mean = saved.mean[row];
    const float inverse = saved.inverse[row];
    float sum_g = 0;
    float sum_gu = 0;
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
      const int i = threadIdx.x + j * Shape::kThreads;
      float4 scale = i < W ? reinterpret_cast<const float4*>(gain)[i] : float4{};
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        part(u[j], p) = (part(u[j], p) - mean) * inverse;
        part(dgain[j], p) += part(g[j], p) * part(u[j], p);
        part(dbias[j], p) += part(g[j], p);
        part(g[j], p) *= part(scale, p);
        sum_g += part(g[j], p);
        sum_gu += part(g[j], p) * part(u[j], p);
      }
    }
    const float mean_g = reduce_row<Shape::kThreads>(sum_g, Add()) * per_value;
    const float mean_gu = reduce_row<Shape::kThreads>(sum_gu, Add()) * per_value;
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
      const int i = threadIdx.x + j * Shape::kThreads;
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        part(g[j], p) = inverse * (part(g[j], p) - mean_g - part(u[j], p) * mean_gu);
      }
      if (i < W) dx.row<float4>(row)[i] = g[j];
    }
  }
  add_up<Shape>(dgain, W, chunk.dgain);
  add_up<Shape>(dbias, W, chunk.dbias);
}

constexpr int kBackwardThreads = 256;

// The same for rows of any width: a block does one row after the other and keeps its sums in
// memory.
__global__ void backward_any(Matrix<const float> dy, Matrix<const float> x, const float* gain,
                             Statistics saved, int64_t rows, int64_t grain, int64_t D,
                             Matrix<float> dx, float* partial) {
  const Chunk chunk(rows, grain, D, partial);
  const float per_value = 1.0F / static_cast<float>(D);
  for (int64_t row = chunk.begin; row < chunk.end; ++row) {
    const float* dy_row = dy.row<float>(row);
    const float* x_row = x.row<float>(row);
    const float mean = saved.mean[row];
    const float inverse = saved.inverse[row];
    float sum_g = 0;
    float sum_gu = 0;
    for (int64_t i = threadIdx.x; i < D; i += kBackwardThreads) {
      const float u = (x_row[i] - mean) * inverse;
      const float g = dy_row[i] * gain[i];
      sum_g += g;
      sum_gu += g * u;
      chunk.dgain[i] = (row == chunk.begin ? 0 : chunk.dgain[i]) + dy_row[i] * u;
      chunk.dbias[i] = (row == chunk.begin ? 0 : chunk.dbias[i]) + dy_row[i];
    }
    const float mean_g = reduce_row<kBackwardThreads>(sum_g, Add()) * per_value;
    const float mean_gu = reduce_row<kBackwardThreads>(sum_gu, Add()) * per_value;
    for (int64_t i = threadIdx.x; i < D; i += kBackwardThreads) {
      const float u = (x_row[i] - mean) * inverse;
      dx.row<float>(row)[i] = inverse * (dy_row[i] * gain[i] - mean_g - u * mean_gu);
    }
  }
}

}  // namespace

void layer_norm(const Context&, ConstTensorView x, ConstTensorView gain, ConstTensorView bias,
                float epsilon, TensorView y, LayerNormSaved saved) {
  const Statistics statistics{saved.mean.data<float>(), saved.inverse_deviation.data<float>()};
  with_row_shape(x.width(), in_float4({x, gain, bias, y}), [&](auto shape, int W) {
    using Shape = decltype(shape);
    launch(normalise<Shape>, Shape::blocks(x.rows()), Shape::block(), matrix(x), gain.data<float>(),
           bias.data<float>(), epsilon, x.rows(), W, matrix(y), statistics);
  });
}

void layer_norm_backward(const Context&, ConstTensorView dy, ConstTensorView x,
                         ConstTensorView gain, LayerNormSaved saved, TensorView dx,
                         TensorView dgain, TensorView dbias) {
  const int64_t N = x.rows();
  const int64_t D = x.width();
  const int64_t grain = rows_per_partial_sum(N);
  const int64_t chunks = ceil_div(N, grain);
  const Scratch<float> partial(chunks * 2 * D);
  const Statistics statistics{saved.mean.data<float>(), saved.inverse_deviation.data<float>()};
  with_row_shape(D, in_float4({dy, x, gain, dx}), [&](auto shape, int W) {
    using Shape = decltype(shape);
    // Beyond 256 threads there are not the registers for all that.
    if constexpr (Shape::kHeld > 0 && Shape::kThreads <= 256) {
      launch(backward_held<Shape>, chunks, dim3(Shape::kThreads, kRowsAtATime<Shape>), matrix(dy),
             matrix(x), gain.data<float>(), statistics, N, grain, W, matrix(dx), partial.data());
    } else {
      launch(backward_any, chunks, dim3(kBackwardThreads), matrix(dy), matrix(x),
             gain.data<float>(), statistics, N, grain, D, matrix(dx), partial.data());
    }
  });
  add_partial_sums(partial.data(), 2 * D, chunks, D, dgain.data<float>());
  add_partial_sums(partial.data() + D, 2 * D, chunks, D, dbias.data<float>());
}

}  // namespace elias::cuda
