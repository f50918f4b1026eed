// Dropout, slow and obvious.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "ops/rows/dropout.h"

namespace elias::reference {

// Value i is decided by word i % 4 of the block with the counter (i / 4, stream) and the key seed,
// lower halves first: it is dropped if the word is below rate * 2^32.
inline bool dropped(uint64_t i, float rate, DropoutKey key) {
  const auto low = [](uint64_t bits) { return static_cast<uint32_t>(bits); };
  const auto high = [](uint64_t bits) { return static_cast<uint32_t>(bits >> 32); };
  const auto words = philox({low(i / 4), high(i / 4), low(key.stream), high(key.stream)},
                            {low(key.seed), high(key.seed)});
  return words[i % 4] < static_cast<uint64_t>(double{rate} * 4294967296.0);
}

template <typename T>
std::vector<T> dropout(std::vector<T> x, float rate, DropoutKey key) {
  const T scale = 1 / (1 - rate);
  for (size_t i = 0; i < x.size(); ++i) x[i] = dropped(i, rate, key) ? 0 : scale * x[i];
  return x;
}

}  // namespace elias::reference
