// What every CUDA source of ops/ is made of: errors, the stream, scratch memory and launches.
//
// All work of the process goes to one stream, in the order of the calls, so an operator may read
// what the one before it wrote, and free what it still uses, without waiting.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "base/errors.h"

namespace elias::cuda {

/// Throws InputError with CUDA's own text unless `result` is success.
void check_call(cudaError_t result);

cudaStream_t stream();

/// `bytes` of device memory, not zeroed, from the process's pool. Throws InputError.
void* take_memory(size_t bytes);
/// Gives it back once the work given to the stream so far is done.
void give_memory_back(void* memory) noexcept;

/// Memory for the time of one operator, not zeroed.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t size)
      : data_(static_cast<T*>(take_memory(static_cast<size_t>(size) * sizeof(T)))) {}
  ~Scratch() { give_memory_back(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() const { return data_; }

 private:
  T* data_;
};

template <typename T>
__host__ __device__ constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

template <typename T>
__host__ __device__ constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}

/// Starts `blocks` blocks, as many as there are pieces of work, which may be none.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), int64_t blocks, dim3 threads, Arguments... arguments) {
  if (blocks == 0) return;
  if (blocks > INT32_MAX) throw InputError("the GPU cannot take {} blocks of work", blocks);
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream()>>>(arguments...);
  check_call(cudaGetLastError());
}

}  // namespace elias::cuda
