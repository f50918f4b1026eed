// Matrix products on the GPU, through cuBLASLt.
//
// Weights are packed as they are, [O, D], for both uses. For kBFloat16, operands are copied to bf16
// with zeros behind them up to multiples of 8 in both directions: fast kernels want rows at 16
// bytes, and zeros in the direction of the sum change nothing. The result is written as float32 by
// the product itself.
#include <cuda_bf16.h>

#include "ops/cuda/column_sums.cuh"
#include "ops/cuda/rows.cuh"
#include "ops/product/cublas.cuh"
#include "ops/product/linear.h"

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMultiple = 8;

__device__ uint32_t rounded_pair(float first, float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return reinterpret_cast<const uint32_t&>(pair);
}

// A thread rounds 8 values: to [vectors of 8], of which a row has W, from [rows, width].
template <bool kVectors>
__global__ void round_values(Matrix<const float> from, int64_t rows, int64_t width, int64_t vectors,
                             int64_t W, uint4* to) {
  const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= vectors) return;
  const int64_t row = place / W;
  const int64_t column = place % W * kMultiple;
  float4 low{};
  float4 high{};
  if (row < rows && kVectors && column + kMultiple <= width) {
    const float4* source = from.row<float4>(row) + column / 4;
    low = __ldcs(source);  // past the cache, where the rounded values are to stay for the product
    high = __ldcs(source + 1);
  } else if (row < rows) {
    const float* source = from.row<float>(row);
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      if (column + p < width) part(low, p) = source[column + p];
      if (column + 4 + p < width) part(high, p) = source[column + 4 + p];
    }
  }
  to[place] = {rounded_pair(low.x, low.y), rounded_pair(low.z, low.w), rounded_pair(high.x, high.y),
               rounded_pair(high.z, high.w)};
}

// Rounds a matrix to [round_up(rows), round_up(width)] in bf16.
void round_matrix(ConstTensorView from, void* to) {
  const int64_t W = ceil_div<int64_t>(from.width(), kMultiple);
  const int64_t vectors = round_up<int64_t>(from.rows(), kMultiple) * W;
  const bool aligned = reinterpret_cast<uintptr_t>(from.bytes()) % sizeof(float4) == 0 &&
                       (from.stride() % 4 == 0 || from.rows() <= 1);
  launch(aligned ? round_values<true> : round_values<false>, ceil_div<int64_t>(vectors, kThreads),
         dim3(kThreads), matrix(from), from.rows(), from.width(), vectors, W,
         static_cast<uint4*>(to));
}

/// A matrix as an operand of a product, rounded where the precision wants it.
class Rounded {
 public:
  Rounded(ConstTensorView matrix, Precision precision)
      : stride_(matrix.stride()),
        data_(matrix.bytes()),
        copy_(precision == Precision::kBFloat16 ? round_up<int64_t>(matrix.rows(), kMultiple) *
                                                      round_up<int64_t>(matrix.width(), kMultiple)
                                                : 0) {
    if (precision == Precision::kFloat32) return;
    round_matrix(matrix, copy_.data());
    stride_ = round_up<int64_t>(matrix.width(), kMultiple);
    data_ = copy_.data();
  }

  const void* data() const { return data_; }
  int64_t stride() const { return stride_; }

 private:
  int64_t stride_;
  const void* data_;
  Scratch<__nv_bfloat16> copy_;
};

cudaDataType_t type_of(Precision precision) {
  return precision == Precision::kBFloat16 ? CUDA_R_16BF : CUDA_R_32F;
}

// What a sum runs over: to the end of the zeros.
int64_t summed(int64_t size, Precision precision) {
  return precision == Precision::kBFloat16 ? round_up<int64_t>(size, kMultiple) : size;
}

/// A bias as cuBLASLt reads it, at 16 bytes: in place, or a copy of a part of a vector.
class AlignedBias {
 public:
  explicit AlignedBias(ConstTensorView bias)
      : data_(bias ? bias.data<float>() : nullptr),
        copy_(reinterpret_cast<uintptr_t>(data_) % 16 == 0 ? 0 : bias.width()) {
    if (copy_.data() == nullptr) return;
    check_call(cudaMemcpyAsync(copy_.data(), data_, bias.width() * sizeof(float),
                               cudaMemcpyDeviceToDevice, stream()));
    data_ = copy_.data();
  }

  const float* data() const { return data_; }

 private:
  const float* data_;
  Scratch<float> copy_;
};

// y = act(bias), which is what a product over nothing leaves.
__global__ void fill(const float* bias, bool relu, int64_t rows, int64_t width, Matrix<float> y) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows * width) return;
  const float value = bias == nullptr ? 0 : bias[i % width];
  y.row<float>(i / width)[i % width] = relu && value < 0 ? 0 : value;
}

// y [N, outer] = act(x [N, inner] times the packed weights + bias).
void multiply_rows(ConstTensorView x, const PackedWeights& w, ConstTensorView bias, bool relu,
                   TensorView y) {
  if (y.shape().elements() == 0) return;
  const AlignedBias added(bias);
  if (w.inner() == 0) {
    launch(fill, ceil_div<int64_t>(y.shape().elements(), kThreads), dim3(kThreads), added.data(),
           relu, y.rows(), y.width(), matrix(y));
    return;
  }
  const Rounded rows(x, w.precision());
  multiply({.m = w.outer(),
            .n = x.rows(),
            .k = summed(w.inner(), w.precision()),
            .type = type_of(w.precision()),
            .a = w.data().bytes(),
            .a_stride = w.data().stride(),
            .a_op = w.use() == PackedFor::kForward ? CUBLAS_OP_T : CUBLAS_OP_N,
            .b = rows.data(),
            .b_stride = rows.stride(),
            .b_op = CUBLAS_OP_N,
            .d = y.data<float>(),
            .d_stride = y.stride(),
            .bias = added.data(),
            .relu = relu});
}

// Sums a chunk of `grain` rows, one of 128 columns (or 32) of each, into a row of `partial`. Eight
// warps take turns at the rows; their sums are added in the warps' order.
template <typename Vector>
__global__ void __launch_bounds__(kThreads, 4)
    sum_columns(Matrix<const float> dy, int64_t rows, int64_t grain, int W, float* partial) {
  constexpr int kWarps = kThreads / kWarp;
  __shared__ Vector sums[kWarps][kWarp];
  const int pieces = ceil_div(W, kWarp);
  const int64_t chunk = blockIdx.x / pieces;
  const int column = blockIdx.x % pieces * kWarp + threadIdx.x;
  Vector sum{};
  if (column < W) {
    const int64_t end = min((chunk + 1) * grain, rows);
#pragma unroll 8
    for (int64_t row = chunk * grain + threadIdx.y; row < end; row += kWarps) {
      Vector value = dy.row<Vector>(row)[column];
      for (int p = 0; p < kSize<Vector>; ++p) part(sum, p) += part(value, p);
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= W) return;
  for (int warp = 1; warp < kWarps; ++warp) {
    for (int p = 0; p < kSize<Vector>; ++p) part(sum, p) += part(sums[warp][threadIdx.x], p);
  }
  reinterpret_cast<Vector*>(partial)[chunk * W + column] = sum;
}

template <typename Vector>
void add_column_sums(ConstTensorView dy, TensorView db) {
  const int W = static_cast<int>(dy.width() / kSize<Vector>);
  const int64_t pieces = ceil_div(W, kWarp);
  // As many blocks in all as rows_per_partial_sum means to have, times two.
  const int64_t grain =
      std::max<int64_t>(64, pieces * ceil_div<int64_t>(rows_per_partial_sum(dy.rows()), 2));
  const int64_t chunks = ceil_div(dy.rows(), grain);
  const Scratch<float> partial(chunks * dy.width());
  launch(sum_columns<Vector>, chunks * pieces, dim3(kWarp, kThreads / kWarp), matrix(dy), dy.rows(),
         grain, W, partial.data());
  add_partial_sums(partial.data(), dy.width(), chunks, dy.width(), db.data<float>());
}

}  // namespace

PackedWeights pack_weights(const Context& context, ConstTensorView w, PackedFor use,
                           Precision precision) {
  const int64_t O = w.rows();
  const int64_t D = w.width();
  Tensor data;
  if (precision == Precision::kBFloat16) {
    data = Tensor({round_up<int64_t>(O, kMultiple), round_up<int64_t>(D, kMultiple)},
                  DType::kBFloat16, Device::kCuda);
    round_matrix(w, data.view().bytes());
  } else {
    data = Tensor({O, D}, DType::kFloat32, Device::kCuda);
    const size_t width = D * sizeof(float);
    if (data.shape().elements() > 0) {
      check_call(cudaMemcpy2DAsync(data.view().bytes(), width, w.bytes(),
                                   w.stride() * sizeof(float), width, O, cudaMemcpyDeviceToDevice,
                                   stream()));
    }
  }
  const bool forward = use == PackedFor::kForward;
  return {use, precision, context.isa(), forward ? D : O, forward ? O : D, std::move(data)};
}

void linear(const Context&, ConstTensorView x, const PackedWeights& w, ConstTensorView bias,
            Activation activation, TensorView y) {
  multiply_rows(x, w, bias, activation == Activation::kRelu, y);
}

void linear_input_gradient(const Context&, ConstTensorView dy, const PackedWeights& w,
                           TensorView dx) {
  multiply_rows(dy, w, {}, false, dx);
}

void linear_weight_gradient(const Context&, ConstTensorView dy, ConstTensorView x,
                            Precision precision, TensorView dw) {
  if (dw.shape().elements() == 0 || x.rows() == 0) return;
  const Rounded left(x, precision);
  const Rounded right(dy, precision);
  multiply({.m = dw.width(),
            .n = dw.rows(),
            .k = summed(x.rows(), precision),
            .type = type_of(precision),
            .a = left.data(),
            .a_stride = left.stride(),
            .a_op = CUBLAS_OP_N,
            .b = right.data(),
            .b_stride = right.stride(),
            .b_op = CUBLAS_OP_T,
            .d = dw.data<float>(),
            .d_stride = dw.stride(),
            .beta = 1});
}

void linear_bias_gradient(const Context&, ConstTensorView dy, TensorView db) {
  if (dy.shape().elements() == 0) return;
  if (in_float4({dy})) {
    add_column_sums<float4>(dy, db);
  } else {
    add_column_sums<float>(dy, db);
  }
}

}  // namespace elias::cuda
