// Rows of a matrix on the GPU: how a row is spread over threads, and sums and maxima over them.
//
// A row of W vectors (float4 where address and stride allow it, else float) belongs to kThreads
// threads: a warp, or a block where the row is long. Thread t has the vectors t, t + kThreads, ...
// Up to kHeld of them stay in registers, so that several passes over the row read memory once; with
// kHeld = 0 each pass reads again, from cache.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "ops/cuda/cuda.cuh"
#include "ops/tensor.h"

namespace elias::cuda {

inline constexpr int kWarp = 32;

// --- vectors -------------------------------------------------------------------------------------

template <typename Vector>
inline constexpr int kSize = sizeof(Vector) / sizeof(float);

/// The i-th float of a vector; i must be a constant once loops are unrolled.
__device__ inline float& part(float& vector, int) { return vector; }
__device__ inline float& part(float4& vector, int i) { return (&vector.x)[i]; }

/// Whether all rows of all views begin at 16 bytes and hold whole float4.
inline bool in_float4(std::initializer_list<ConstTensorView> views) {
  for (const ConstTensorView& view : views) {
    const bool first = reinterpret_cast<uintptr_t>(view.bytes()) % sizeof(float4) == 0;
    const bool others = view.rows() <= 1 || view.stride() % 4 == 0;
    if (!first || !others || view.width() % 4 != 0) return false;
  }
  return true;
}

/// A matrix as kernels take it.
template <typename T>
struct Matrix {
  T* data;
  int64_t stride;

  template <typename Vector>
  __device__ auto row(int64_t i) const {
    using To = std::conditional_t<std::is_const_v<T>, const Vector, Vector>;
    return reinterpret_cast<To*>(data + i * stride);
  }
};

inline Matrix<const float> matrix(const ConstTensorView& view) {
  return {view.data<float>(), view.stride()};
}
inline Matrix<float> matrix(const TensorView& view) { return {view.data<float>(), view.stride()}; }

// --- reductions ----------------------------------------------------------------------------------

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
  static constexpr float kNothing = 0;
};

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
  static constexpr float kNothing = -INFINITY;
};

/// Of the values of a warp; every lane gets the result.
template <typename Operation>
__device__ float reduce_warp(float value, Operation operation) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value = operation(value, __shfl_xor_sync(~0U, value, distance));
  }
  return value;
}

/// Of the values of the kThreads threads of a row: lanes, then warps, in a fixed order. A row of
/// more than a warp is a block, all of whose threads must call this.
template <int kThreads, typename Operation>
__device__ float reduce_row(float value, Operation operation) {
  value = reduce_warp(value, operation);
  if constexpr (kThreads > kWarp) {
    constexpr int kWarps = kThreads / kWarp;
    static_assert(kWarps <= kWarp);
    __shared__ float of_warp[kWarps];
    const int lane = threadIdx.x % kWarp;
    if (lane == 0) of_warp[threadIdx.x / kWarp] = value;
    __syncthreads();
    value = reduce_warp(lane < kWarps ? of_warp[lane] : Operation::kNothing, operation);
    __syncthreads();  // before of_warp is written again
  }
  return value;
}

// --- spreading rows over threads -----------------------------------------------------------------

template <typename V, int threads, int held>
struct RowShape {
  using Vector = V;
  static constexpr int kThreads = threads;
  static constexpr int kHeld = held;
  /// Rows of a block, which has kThreads x kRows threads.
  static constexpr int kRows = threads == kWarp ? 8 : 1;

  static dim3 block() { return dim3(kThreads, kRows); }
  static int64_t blocks(int64_t rows) { return ceil_div<int64_t>(rows, kRows); }
  /// The row of this thread.
  __device__ static int64_t row() { return int64_t{blockIdx.x} * kRows + threadIdx.y; }
};

/// The vectors of one thread, of a row of W.
template <typename Shape>
class HeldRow {
 public:
  using Vector = typename Shape::Vector;

  __device__ HeldRow(const Vector* row, int W) : row_(row), W_(W) {
#pragma unroll
    for (int j = 0; j < Shape::kHeld; ++j) {
      const int i = threadIdx.x + j * Shape::kThreads;
      if (i < W) held_[j] = row[i];
    }
  }

  /// body(i, vector) for this thread's vectors, in order.
  template <typename Body>
  __device__ void for_each(const Body& body) const {
    for_each_pair(*this, [&](int i, Vector own, Vector) { body(i, own); });
  }

  /// body(i, vector, other's vector), likewise.
  template <typename Body>
  __device__ void for_each_pair(const HeldRow& other, const Body& body) const {
    if constexpr (Shape::kHeld > 0) {
#pragma unroll
      for (int j = 0; j < Shape::kHeld; ++j) {
        const int i = threadIdx.x + j * Shape::kThreads;
        if (i < W_) body(i, held_[j], other.held_[j]);
      }
    } else {
      for (int i = threadIdx.x; i < W_; i += Shape::kThreads) body(i, row_[i], other.row_[i]);
    }
  }

 private:
  const Vector* row_;
  int W_;
  Vector held_[Shape::kHeld > 0 ? Shape::kHeld : 1];
};

/// Calls body(RowShape<...>(), W) with the shape that fits rows of `width` floats.
template <typename Body>
void with_row_shape(int64_t width, bool vectors, const Body& body) {
  if (width > INT32_MAX / 2) throw InputError("the GPU takes no rows of {} values", width);
  const int W = static_cast<int>(vectors ? width / 4 : width);
  if (!vectors && W <= 1024) return body(RowShape<float, kWarp, 0>(), W);
  if (!vectors) return body(RowShape<float, 256, 0>(), W);
  if (W <= 2 * kWarp) return body(RowShape<float4, kWarp, 2>(), W);
  if (W <= 4 * kWarp) return body(RowShape<float4, kWarp, 4>(), W);
  if (W <= 6 * kWarp) return body(RowShape<float4, kWarp, 6>(), W);
  if (W <= 8 * kWarp) return body(RowShape<float4, kWarp, 8>(), W);
  if (W <= 4 * 256) return body(RowShape<float4, 256, 4>(), W);
  if (W <= 8 * 256) return body(RowShape<float4, 256, 8>(), W);
  if (W <= 8 * 512) return body(RowShape<float4, 512, 8>(), W);
  body(RowShape<float4, 512, 0>(), W);
}

}  // namespace elias::cuda
