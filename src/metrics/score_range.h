// Which values scores take: what may be computed from them depends on it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace elias {

struct ScoreRange {
  bool finite = true;         // neither infinite nor NaN
  bool probabilities = true;  // all in [0, 1]
};

inline ScoreRange score_range(std::span<const float> scores) {
  constexpr uint32_t kMinusZero = 0x80000000, kExponent = 0x7f800000;
  constexpr uint32_t kOne = std::bit_cast<uint32_t>(1.0f);
  // On the bits, because sums of comparisons of whole numbers are what compilers vectorise. As
  // whole numbers, all floats but those in [0, 1] and minus zero are above one.
  uint32_t outside = 0, infinite = 0;
  for (const float score : scores) {
    const auto bits = std::bit_cast<uint32_t>(score);
    outside += static_cast<uint32_t>(bits > kOne) & static_cast<uint32_t>(bits != kMinusZero);
    infinite += (bits & kExponent) == kExponent;
  }
  return {infinite == 0, outside == 0};
}

}  // namespace elias
