// Philox4x32-10 (base/random.h) for many counters at once, with the same bits. Included once an
// instruction set, as row-inl.h.
//
// A vector holds one word of a counter in the lower half of each 64-bit lane. The multiplication
// reads lower halves alone, so what the upper halves hold never has to be cleared.
#if defined(ELIAS_OPS_CPU_PHILOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ELIAS_OPS_CPU_PHILOX_INL_H
#undef ELIAS_OPS_CPU_PHILOX_INL_H
#else
#define ELIAS_OPS_CPU_PHILOX_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/random.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// philox_words may write this many words more than it is asked for.
constexpr size_t kSparePhiloxWords = 32;

// The words of philox({block, stream}, seed) for `blocks` blocks from `first` on, four a block.
#if HWY_TARGET == HWY_SCALAR

inline void philox_words(uint64_t seed, uint64_t stream, uint64_t first, size_t blocks,
                         uint32_t* words) {
  const auto low = [](uint64_t bits) { return static_cast<uint32_t>(bits); };
  const auto high = [](uint64_t bits) { return static_cast<uint32_t>(bits >> 32); };
  for (uint64_t block = first; block < first + blocks; ++block, words += 4) {
    const auto result =
        philox({low(block), high(block), low(stream), high(stream)}, {low(seed), high(seed)});
    std::copy(result.begin(), result.end(), words);
  }
}

#else

using Wide = hn::ScalableTag<uint64_t>;
using WideHalves = hn::Repartition<uint32_t, Wide>;

// The lower half of each lane, times `factor`.
HWY_INLINE hn::Vec<Wide> times(hn::Vec<Wide> word, uint32_t factor) {
  const WideHalves d32;
  return hn::MulEven(hn::BitCast(d32, word), hn::Set(d32, factor));
}

// The lower halves of `first` and `second` in the lower and upper halves of the result.
HWY_INLINE hn::Vec<Wide> joined(hn::Vec<Wide> first, hn::Vec<Wide> second) {
  const WideHalves d32;
  return hn::BitCast(
      Wide(), hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(second)), hn::BitCast(d32, first)));
}

inline void philox_words(uint64_t seed, uint64_t stream, uint64_t first, size_t blocks,
                         uint32_t* words) {
  constexpr int kRounds = 10;
  uint64_t key0[kRounds];
  uint64_t key1[kRounds];
  for (uint32_t round = 0; round < kRounds; ++round) {
    key0[round] = static_cast<uint32_t>(seed) + round * 0x9E3779B9U;
    key1[round] = static_cast<uint32_t>(seed >> 32) + round * 0xBB67AE85U;
  }
  const Wide d;
  const WideHalves d32;
  const size_t lanes = hn::Lanes(d);
  // Interleaving at the end puts the blocks of all even lanes before those of the odd ones.
  const auto half = hn::ShiftRight<1>(hn::Iota(d, 0));
  const auto place = hn::OddEven(hn::Add(half, hn::Set(d, lanes / 2)), half);
  for (size_t i = 0; i < blocks; i += lanes) {
    auto c0 = hn::Add(hn::Set(d, first + i), place);
    auto c1 = hn::ShiftRight<32>(c0);
    auto c2 = hn::Set(d, stream);
    auto c3 = hn::ShiftRight<32>(c2);
    for (int round = 0; round < kRounds; ++round) {
      const auto product0 = times(c0, 0xD2511F53);
      const auto product1 = times(c2, 0xCD9E8D57);
      c0 = hn::Xor3(hn::ShiftRight<32>(product1), c1, hn::Set(d, key0[round]));
      c2 = hn::Xor3(hn::ShiftRight<32>(product0), c3, hn::Set(d, key1[round]));
      c1 = product1;
      c3 = product0;
    }
    const auto front = joined(c0, c1);
    const auto back = joined(c2, c3);
    uint32_t* to = words + 4 * i;
    hn::StoreU(hn::BitCast(d32, hn::InterleaveLower(d, front, back)), d32, to);
    hn::StoreU(hn::BitCast(d32, hn::InterleaveUpper(d, front, back)), d32, to + 2 * lanes);
  }
}

#endif

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
