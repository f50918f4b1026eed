// Memory that a thread keeps between calls of an operator, so that a call does not pay for fresh
// pages.
#pragma once

#include <cstddef>

#include "base/aligned_buffer.h"

namespace elias::cpu {

/// Grows to the largest size asked for. Hold one per use as `static thread_local`.
class Scratch {
 public:
  /// At least `size` bytes, 64-byte aligned, with whatever was left there.
  void* bytes(size_t size) {
    if (buffer_.size() < size) {
      buffer_ = {};  // first, so that old and new are never held together
      buffer_ = AlignedBuffer<std::byte>(size);
    }
    return buffer_.data();
  }

 private:
  AlignedBuffer<std::byte> buffer_;
};

}  // namespace elias::cpu
