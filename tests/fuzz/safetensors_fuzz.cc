// Any bytes as a safetensors file: every tensor of one that is accepted can be read to its end.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/errors.h"
#include "data/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> image(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  try {
    const elias::SafetensorsFile file(image, "fuzzed");
    size_t bytes = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      const std::vector<std::byte> copy(tensor.bytes.begin(), tensor.bytes.end());
      bytes += copy.size();
    }
    ELIAS_ASSERT(bytes <= size);
    file.verify_checksum();
  } catch (const elias::InputError&) {
  }
  return 0;
}
