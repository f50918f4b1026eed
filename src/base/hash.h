// Fixed hashes of bytes. They are part of file formats: none of them may ever change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace elias {

/// Multiplies to 128 bits and folds the halves: every bit of the result depends on all of `a`.
inline uint64_t mix_bits(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// A 64-bit hash, the same on every machine and in every version. Against chance, not malice.
uint64_t hash_bytes(std::string_view bytes);

/// The hash of each piece of `length` bytes (the last may be shorter), several times as fast as one
/// by one. hashes [ceil(size / length)], length > 0.
void hash_pieces(std::string_view bytes, size_t length, std::span<uint64_t> hashes);

}  // namespace elias
