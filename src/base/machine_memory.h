// How much memory the machine has for this process.
#pragma once

#include <cstdint>

namespace elias {

struct MachineMemory {
  uint64_t total = 0;      // of the machine, or of the container if that is less
  uint64_t available = 0;  // now, without pushing others out
};

/// Zeros where the system does not say.
MachineMemory machine_memory();

}  // namespace elias
