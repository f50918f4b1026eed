// Bytes under a path, without a disk: what readers that take a path are fuzzed with.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/errors.h"

namespace elias {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", 0)) {
    ELIAS_ASSERT(descriptor_ >= 0);
    ELIAS_ASSERT(::write(descriptor_, bytes.data(), bytes.size()) ==
                 static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace elias
