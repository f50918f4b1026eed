// The GPU's memory and its stream.
//
// Memory comes from CUDA's own pool, which keeps what is given back: taking some costs no call to
// the driver once a training step has run, and no wait for the device.
#include "ops/cuda/cuda.cuh"
#include "ops/device.h"

namespace elias::cuda {
namespace {

void keep_freed_memory() {
  int device = 0;
  check_call(cudaGetDevice(&device));
  cudaMemPool_t pool = nullptr;
  check_call(cudaDeviceGetDefaultMemPool(&pool, device));
  uint64_t everything = UINT64_MAX;
  check_call(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
}

}  // namespace

void check_call(cudaError_t result) {
  if (result == cudaSuccess) return;
  throw InputError("the GPU reports: {} ({})", cudaGetErrorString(result),
                   cudaGetErrorName(result));
}

cudaStream_t stream() {
  static const cudaStream_t only = [] {
    keep_freed_memory();
    cudaStream_t made = nullptr;
    check_call(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    return made;
  }();
  return only;
}

void* take_memory(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  const cudaError_t result = cudaMallocAsync(&memory, bytes, stream());
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // no error of a later call
    throw InputError("not enough memory on the GPU for {} bytes: use smaller batches", bytes);
  }
  check_call(result);
  return memory;
}

void give_memory_back(void* memory) noexcept {
  // Nothing can be done about an error here: at the end of the process the device is gone already.
  if (memory != nullptr) cudaFreeAsync(memory, stream());
}

bool available() {
  static const bool found = [] {
    int devices = 0;
    const bool any = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    cudaGetLastError();  // no error of a later call
    return any;
  }();
  return found;
}

std::shared_ptr<std::byte> allocate(size_t bytes) {
  if (!available()) throw InputError("there is no GPU on this machine: use the CPU");
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(take_memory(bytes)), give_memory_back);
  if (bytes > 0) check_call(cudaMemsetAsync(memory.get(), 0, bytes, stream()));
  return memory;
}

void copy_bytes(void* to, const void* from, size_t bytes) {
  check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()));
  check_call(cudaStreamSynchronize(stream()));
}

void synchronise() { check_call(cudaStreamSynchronize(stream())); }

}  // namespace elias::cuda
