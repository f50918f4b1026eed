// Where a tensor's memory is, and what this build can do there.
//
// This is the one header that knows whether CUDA was compiled in. An operator's checked function
// asks kCudaBuilt in an `if constexpr`, so that a build without CUDA has no trace of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace elias {

enum class Device : uint8_t { kCpu, kCuda };

#ifdef ELIAS_CUDA
inline constexpr bool kCudaBuilt = true;
#else
inline constexpr bool kCudaBuilt = false;
#endif

constexpr std::string_view name_of(Device device) {
  return device == Device::kCpu ? "CPU" : "CUDA";
}

/// Whether work can be done there: built in, and a device present.
bool available(Device device);

/// Throws InputError unless `device` is the CPU: for operators that are not on other devices yet.
void require_cpu(std::string_view op, Device device);

/// `bytes` of zeroed memory, 64-byte aligned. Throws InputError if the device is not available or
/// has not so much memory.
std::shared_ptr<std::byte> allocate(Device device, size_t bytes);

/// Copies bytes between or within devices, and returns when they are there.
void copy_bytes(Device to_device, void* to, Device from_device, const void* from, size_t bytes);

/// Waits until all work given to the device is done; operators on CUDA return before that.
void synchronise(Device device);

}  // namespace elias
