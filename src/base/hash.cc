#include "base/hash.h"

#include <cstddef>
#include <cstring>

namespace elias {
namespace {

constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;

// The hashes of `streams` strings of one length that lie one behind the other. Eight bytes at a
// time; the length goes in first, so that padding the last word with zeros makes no two strings
// alike. A multiplication waits for the one before it: several streams fill that time.
template <size_t streams>
void hash_streams(const char* data, size_t length, uint64_t* hashes) {
  uint64_t hash[streams];
  for (uint64_t& own : hash) own = length * kMultiplier + 1;
  size_t at = 0;
  for (; at + 8 <= length; at += 8) {
    for (size_t s = 0; s < streams; ++s) {
      uint64_t word = 0;
      std::memcpy(&word, data + s * length + at, 8);
      hash[s] = mix_bits(hash[s] ^ word, kMultiplier);
    }
  }
  for (size_t s = 0; s < streams; ++s) {
    uint64_t word = 0;
    if (at < length) std::memcpy(&word, data + s * length + at, length - at);
    hashes[s] = mix_bits(hash[s] ^ word, kMultiplier ^ 0x5851F42D4C957F2D);
  }
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = 0;
  hash_streams<1>(bytes.data(), bytes.size(), &hash);
  return hash;
}

void hash_pieces(std::string_view bytes, size_t length, std::span<uint64_t> hashes) {
  constexpr size_t kStreams = 8;
  size_t piece = 0;
  for (; (piece + kStreams) * length <= bytes.size(); piece += kStreams) {
    hash_streams<kStreams>(bytes.data() + piece * length, length, &hashes[piece]);
  }
  for (; piece < hashes.size(); ++piece) {
    hashes[piece] = hash_bytes(bytes.substr(piece * length, length));
  }
}

}  // namespace elias
