#include "ops/device.h"

#include <cstring>
#include <new>

#include "base/aligned_buffer.h"
#include "base/errors.h"

namespace elias {

namespace cuda {  // device_cuda.cu
bool available();
std::shared_ptr<std::byte> allocate(size_t bytes);
void copy_bytes(void* to, const void* from, size_t bytes);
void synchronise();
}  // namespace cuda

bool available(Device device) {
  if (device == Device::kCpu) return true;
  if constexpr (kCudaBuilt) return cuda::available();
  return false;
}

void require_cpu(std::string_view op, Device device) {
  if (device != Device::kCpu) {
    throw InputError("{} is not on this device yet ({}): keep its tensors on the CPU", op,
                     name_of(device));
  }
}

std::shared_ptr<std::byte> allocate(Device device, size_t bytes) {
  if (device == Device::kCuda) {
    if constexpr (kCudaBuilt) return cuda::allocate(bytes);
    throw InputError("this build has no CUDA: build with the preset cuda, or use the CPU");
  }
  try {
    auto buffer = std::make_shared<AlignedBuffer<std::byte>>(bytes);
    return {buffer, buffer->data()};
  } catch (const std::bad_alloc&) {
    throw InputError("not enough memory for a tensor of {} bytes", bytes);
  }
}

void copy_bytes(Device to_device, void* to, Device from_device, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (to_device == Device::kCpu && from_device == Device::kCpu) {
    std::memcpy(to, from, bytes);
    return;
  }
  if constexpr (kCudaBuilt) cuda::copy_bytes(to, from, bytes);
}

void synchronise(Device device) {
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) cuda::synchronise();
  }
}

}  // namespace elias
