#include "base/random.h"

#include "base/errors.h"

namespace elias {
namespace {

constexpr uint32_t low(uint64_t bits) { return static_cast<uint32_t>(bits); }
constexpr uint32_t high(uint64_t bits) { return static_cast<uint32_t>(bits >> 32); }

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  constexpr int kRounds = 10;
  constexpr uint64_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = kMultiply0 * counter[0];
    const uint64_t product1 = kMultiply1 * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

uint64_t Random::bits(uint64_t position) const {
  const auto block = philox({low(position), high(position), low(stream_), high(stream_)},
                            {low(seed_), high(seed_)});
  return (uint64_t{block[1]} << 32) | block[0];
}

double Random::uniform(uint64_t position) const {
  return static_cast<double>(bits(position) >> 11) * 0x1.0p-53;
}

uint64_t Random::below(uint64_t position, uint64_t bound) const {
  ELIAS_ASSERT(bound > 0);
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((Wide{bits(position)} * bound) >> 64);
}

}  // namespace elias
