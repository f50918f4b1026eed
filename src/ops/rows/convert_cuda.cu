// Conversion on the GPU: a thread converts eight values, which are 16 bytes of bfloat16.
#include <cuda_bf16.h>

#include "ops/rows/convert.cuh"
#include "ops/rows/convert.h"

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kValues = 8;

// Eight values at 16 bytes. Read past the cache, in which the converted ones are to stay for those
// who want them next.
__device__ void read(const float* from, float (&values)[kValues]) {
  float4 low = __ldcs(reinterpret_cast<const float4*>(from));
  float4 high = __ldcs(reinterpret_cast<const float4*>(from) + 1);
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    values[p] = part(low, p);
    values[4 + p] = part(high, p);
  }
}

__device__ void read(const __nv_bfloat16* from, float (&values)[kValues]) {
  const uint4 packed = __ldcs(reinterpret_cast<const uint4*>(from));
  const uint32_t pairs[] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    values[2 * p] = __uint_as_float(pairs[p] << 16);
    values[2 * p + 1] = __uint_as_float(pairs[p] & 0xffff0000U);
  }
}

__device__ void write(const float (&values)[kValues], float* to) {
  reinterpret_cast<float4*>(to)[0] = {values[0], values[1], values[2], values[3]};
  reinterpret_cast<float4*>(to)[1] = {values[4], values[5], values[6], values[7]};
}

__device__ uint32_t rounded_pair(float first, float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return reinterpret_cast<const uint32_t&>(pair);
}

__device__ void write(const float (&values)[kValues], __nv_bfloat16* to) {
  *reinterpret_cast<uint4*>(to) = {
      rounded_pair(values[0], values[1]), rounded_pair(values[2], values[3]),
      rounded_pair(values[4], values[5]), rounded_pair(values[6], values[7])};
}

/// A matrix of which eight neighbours may be read or written at once if `whole`.
template <typename T>
struct Side {
  T* data;
  int64_t stride;
  int64_t rows;
  int64_t width;
  bool whole;

  Side(const void* bytes, int64_t stride_, int64_t rows_, int64_t width_)
      : data(static_cast<T*>(const_cast<void*>(bytes))),
        stride(stride_),
        rows(rows_),
        width(width_),
        whole(reinterpret_cast<uintptr_t>(bytes) % 16 == 0 && stride * sizeof(T) % 16 == 0) {}
};

template <typename From, typename To>
__global__ void convert_values(Side<const From> from, Side<To> to, int64_t places, int64_t W) {
  const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= places) return;
  const int64_t row = place / W;
  const int64_t column = place % W * kValues;
  float values[kValues] = {};
  const From* source = from.data + row * from.stride + column;
  if (row < from.rows && from.whole && column + kValues <= from.width) {
    read(source, values);
  } else if (row < from.rows) {
#pragma unroll
    for (int p = 0; p < kValues; ++p) {
      if (column + p < from.width) values[p] = static_cast<float>(source[p]);
    }
  }
  To* target = to.data + row * to.stride + column;
  if (to.whole && column + kValues <= to.width) return write(values, target);
#pragma unroll
  for (int p = 0; p < kValues; ++p) {
    if (column + p < to.width) target[p] = static_cast<To>(values[p]);
  }
}

template <typename From, typename To>
void convert_matrix(ConstTensorView from, void* to, int64_t to_stride, int64_t rows,
                    int64_t width) {
  const int64_t W = ceil_div<int64_t>(width, kValues);
  launch(convert_values<From, To>, ceil_div<int64_t>(rows * W, kThreads), dim3(kThreads),
         Side<const From>(from.bytes(), from.stride(), from.rows(), from.width()),
         Side<To>(to, to_stride, rows, width), rows * W, W);
}

}  // namespace

void convert_padded(ConstTensorView from, void* to, DType to_type, int64_t to_stride, int64_t rows,
                    int64_t width) {
  const bool rounded = from.dtype() == DType::kBFloat16;
  if (to_type == DType::kFloat32) {
    (rounded ? convert_matrix<__nv_bfloat16, float>
             : convert_matrix<float, float>)(from, to, to_stride, rows, width);
  } else {
    (rounded ? convert_matrix<__nv_bfloat16, __nv_bfloat16>
             : convert_matrix<float, __nv_bfloat16>)(from, to, to_stride, rows, width);
  }
}

void convert(const Context&, ConstTensorView x, TensorView y) {
  convert_padded(x, y.bytes(), y.dtype(), y.stride(), x.rows(), x.width());
}

}  // namespace elias::cuda
