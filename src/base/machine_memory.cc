#include "base/machine_memory.h"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace elias {
namespace {

// A file that holds one number; the largest there is where it holds none ("max").
uint64_t limit_in(const char* path) {
  uint64_t limit = 0;
  return std::ifstream(path) >> limit ? limit : std::numeric_limits<uint64_t>::max();
}

}  // namespace

MachineMemory machine_memory() {
  MachineMemory memory;
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  uint64_t kibibytes = 0;
  while (file >> name >> kibibytes && std::getline(file, unit)) {
    if (name == "MemTotal:") memory.total = kibibytes * 1024;
    if (name == "MemAvailable:") memory.available = kibibytes * 1024;
  }
  // A container's limit, by either version of control groups.
  const uint64_t limit = std::min(limit_in("/sys/fs/cgroup/memory.max"),
                                  limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  memory.total = std::min(memory.total, limit);
  memory.available = std::min(memory.available, limit);
  return memory;
}

void return_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace elias
