// Matrix products on the GPU, through cuBLASLt.
//
// Weights are packed as they are, [O, D], for both uses. Fast kernels for bf16 want rows at 16
// bytes, and as many values to sum over: rows given in bf16 that are so go into the product as they
// are. All others, and the weights, are copied to bf16 with zeros behind them up to multiples of 8,
// which change no sum. The result is written in its own type by the product itself.
#include <cuda_bf16.h>

#include "ops/cuda/column_sums.cuh"
#include "ops/product/cublas.cuh"
#include "ops/product/linear.h"
#include "ops/rows/convert.cuh"

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMultiple = 8;

cudaDataType_t type_of(DType dtype) { return dtype == DType::kBFloat16 ? CUDA_R_16BF : CUDA_R_32F; }
cudaDataType_t type_of(Precision precision) {
  return precision == Precision::kBFloat16 ? CUDA_R_16BF : CUDA_R_32F;
}

bool at_16_bytes(const void* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; }

/// Rows as an operand of a product: in place, or a copy.
class Rows {
 public:
  Rows(ConstTensorView rows, Precision precision)
      : stride_(rows.stride()),
        data_(rows.bytes()),
        copy_(fit(rows, precision) ? 0 : rows.rows() * round_up<int64_t>(rows.width(), kMultiple)) {
    if (copy_.data() == nullptr) return;
    stride_ = round_up<int64_t>(rows.width(), kMultiple);
    data_ = copy_.data();
    convert_padded(rows, copy_.data(), DType::kBFloat16, stride_, rows.rows(), stride_);
  }

  const void* data() const { return data_; }
  int64_t stride() const { return stride_; }

 private:
  static bool fit(const ConstTensorView& rows, Precision precision) {
    if (precision == Precision::kFloat32) return true;
    return rows.dtype() == DType::kBFloat16 && at_16_bytes(rows.bytes()) &&
           rows.stride() % kMultiple == 0 && rows.width() % kMultiple == 0;
  }

  int64_t stride_;
  const void* data_;
  Scratch<__nv_bfloat16> copy_;
};

/// A bias as cuBLASLt reads it: at 16 bytes and of the type of y. In place, or a copy.
class Bias {
 public:
  Bias(ConstTensorView bias, DType dtype)
      : data_(bias ? bias.bytes() : nullptr),
        copy_(dtype == DType::kFloat32 && at_16_bytes(data_) || !bias
                  ? 0
                  : bias.width() * static_cast<int64_t>(size_of(dtype))) {
    if (copy_.data() == nullptr) return;
    data_ = copy_.data();
    convert_padded(bias, copy_.data(), dtype, bias.width(), 1, bias.width());
  }

  const void* data() const { return data_; }

 private:
  const void* data_;
  Scratch<std::byte> copy_;
};

// y = act(bias), which is what a product over nothing leaves.
template <typename T>
__global__ void fill(const float* bias, bool relu, int64_t rows, int64_t width, T* y,
                     int64_t stride) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows * width) return;
  const float value = bias == nullptr ? 0 : bias[i % width];
  y[i / width * stride + i % width] = static_cast<T>(relu && value < 0 ? 0 : value);
}

template <typename T>
void fill_rows(ConstTensorView bias, bool relu, TensorView y) {
  launch(fill<T>, ceil_div<int64_t>(y.shape().elements(), kThreads), dim3(kThreads),
         bias ? bias.data<float>() : nullptr, relu, y.rows(), y.width(), static_cast<T*>(y.bytes()),
         y.stride());
}

// y [N, outer] = act(x [N, inner] times the packed weights + bias), or, with `add`, y + that.
void multiply_rows(ConstTensorView x, const PackedWeights& w, ConstTensorView bias, bool relu,
                   TensorView y, bool add = false) {
  if (y.shape().elements() == 0) return;
  if (w.inner() == 0) {
    if (add) return;
    (y.dtype() == DType::kFloat32 ? fill_rows<float> : fill_rows<__nv_bfloat16>)(bias, relu, y);
    return;
  }
  const Bias added(bias, y.dtype());
  const Rows rows(x, w.precision());
  const bool padded = w.precision() == Precision::kBFloat16;
  multiply({.m = w.outer(),
            .n = x.rows(),
            .k = padded ? round_up<int64_t>(w.inner(), kMultiple) : w.inner(),
            .type = type_of(w.precision()),
            .a = w.data().bytes(),
            .a_stride = w.data().stride(),
            .a_op = w.use() == PackedFor::kForward ? CUBLAS_OP_T : CUBLAS_OP_N,
            .b = rows.data(),
            .b_stride = rows.stride(),
            .b_op = CUBLAS_OP_N,
            .d = y.bytes(),
            .d_type = type_of(y.dtype()),
            .d_stride = y.stride(),
            .bias = added.data(),
            .relu = relu,
            .beta = add ? 1.0F : 0.0F});
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
  const int64_t O = w.shape()[0];
  const int64_t D = w.shape()[1];
  const int64_t multiple = precision == Precision::kBFloat16 ? kMultiple : 1;
  const DType dtype = precision == Precision::kBFloat16 ? DType::kBFloat16 : DType::kFloat32;
  Tensor data({round_up(O, multiple), round_up(D, multiple)}, dtype, Device::kCuda);
  const TensorView to = data;
  convert_padded(w, to.bytes(), dtype, to.stride(), to.rows(), to.width());
  const bool forward = use == PackedFor::kForward;
  return {use, precision, context.isa(), forward ? D : O, forward ? O : D, std::move(data)};
}

void linear(const Context&, ConstTensorView x, const PackedWeights& w, ConstTensorView bias,
            Activation activation, TensorView y, TensorView) {
  multiply_rows(x, w, bias, activation == Activation::kRelu, y);
}

void linear_input_gradient(const Context&, ConstTensorView dy, const PackedWeights& w,
                           TensorView dx) {
  multiply_rows(dy, w, {}, false, dx);
}

void add_linear_input_gradient(const Context&, ConstTensorView dy, const PackedWeights& w,
                               TensorView dx) {
  multiply_rows(dy, w, {}, false, dx, /*add=*/true);
}

void linear_weight_gradient(const Context&, ConstTensorView dy, ConstTensorView x,
                            Precision precision, TensorView dw) {
  if (dw.shape().elements() == 0 || x.rows() == 0) return;
  const Rows left(x, precision);
  const Rows right(dy, precision);
  multiply({.m = dw.width(),
            .n = dw.rows(),
            .k = x.rows(),
            .type = type_of(precision),
            .a = left.data(),
            .a_stride = left.stride(),
            .a_op = CUBLAS_OP_N,
            .b = right.data(),
            .b_stride = right.stride(),
            .b_op = CUBLAS_OP_T,
            .d = dw.bytes(),
            .d_type = CUDA_R_32F,
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
