// By what two runs are told apart: hashes of what they learn from and of what they start with.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/hash.h"
#include "encoder/pretrained.h"

namespace elias {

/// `hash` and the values together.
template <typename T>
uint64_t mixed(uint64_t hash, std::span<const T> values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  return mix_bits(hash ^ hash_bytes({bytes, values.size_bytes()}), 0x9E3779B97F4A7C15);
}

/// Sixteen digits, as descriptions of runs have it.
std::string fingerprint_text(uint64_t hash);

/// Of all that training starts with: sizes, rates of dropout, the tokeniser, pooling, weights.
std::string fingerprint_of(const Pretrained& start);

}  // namespace elias
