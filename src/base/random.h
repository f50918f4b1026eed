// Random numbers without state: a value is a function of (seed, stream, position).
//
// Work can therefore be cut among any number of threads, resumed in the middle, or done twice, and
// sees the same numbers. The generator is Philox4x32 with 10 rounds (Salmon et al., "Parallel
// Random Numbers: As Easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace elias {

/// The Philox4x32-10 bijection: 128 bits of counter and 64 bits of key to 128 random bits.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// One stream of random numbers. Give every use its own stream number.
class Random {
 public:
  Random(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  /// 64 random bits.
  uint64_t bits(uint64_t position) const;

  /// Uniform in [0, 1), on a grid of 2^-53.
  double uniform(uint64_t position) const;

  /// Uniform in [0, bound), bound >= 1. No rejection: some values are likelier by at most 2^-64.
  uint64_t below(uint64_t position, uint64_t bound) const;

 private:
  uint64_t seed_;
  uint64_t stream_;
};

/// Reads one stream front to back, for code that is sequential anyway.
class RandomSequence {
 public:
  RandomSequence(uint64_t seed, uint64_t stream) : random_(seed, stream) {}

  uint64_t bits() { return random_.bits(position_++); }
  double uniform() { return random_.uniform(position_++); }
  uint64_t below(uint64_t bound) { return random_.below(position_++, bound); }

 private:
  Random random_;
  uint64_t position_ = 0;
};

}  // namespace elias
