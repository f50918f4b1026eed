#include "base/hash.h"

#include <cstddef>
#include <cstring>

namespace elias {

// Eight bytes at a time. The length goes in first, so that padding the last word with zeros makes
// no two strings alike.
uint64_t hash_bytes(std::string_view bytes) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  uint64_t hash = bytes.size() * kMultiplier + 1;
  const char* data = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, data += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, 8);
    hash = mix_bits(hash ^ word, kMultiplier);
  }
  uint64_t word = 0;
  if (left > 0) std::memcpy(&word, data, left);
  return mix_bits(hash ^ word, kMultiplier ^ 0x5851F42D4C957F2D);
}

}  // namespace elias
