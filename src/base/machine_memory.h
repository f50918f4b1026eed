// The memory the machine has for this process.
#pragma once

#include <cstdint>

namespace elias {

struct MachineMemory {
  uint64_t total = 0;      // of the machine, or of the container if that is less
  uint64_t available = 0;  // now, without pushing others out
};

/// Zeros where the system does not say.
MachineMemory machine_memory();

/// Gives memory that was freed back to the system. After much reading the allocator holds on to
/// what was read, in pieces too small for tensors.
void return_freed_memory();

}  // namespace elias
