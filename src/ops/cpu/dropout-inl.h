// Dropout of a run of values, for kernels of any instruction set. Included once an instruction set,
// as row-inl.h.
//
// The random words of some hundred values at a time are made in cache, then compared with the rate.
// Value i of a stream is decided by word i % 4 of philox({i / 4, stream}, seed): dropped if below
// rate * 2^32.
#if defined(ELIAS_OPS_CPU_DROPOUT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ELIAS_OPS_CPU_DROPOUT_INL_H
#undef ELIAS_OPS_CPU_DROPOUT_INL_H
#else
#define ELIAS_OPS_CPU_DROPOUT_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "ops/cpu/philox-inl.h"
#include "ops/cpu/row-inl.h"
#include "ops/rows/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {

// Calls use(i, n, kept) for every vector of `count` values, of which the first is number `first` of
// its stream: kept is 1 / (1 - rate) in the places that stay and 0 in those that are dropped. Some
// time before, soon(i) is called for the first value of every line of the cache.
template <typename Soon, typename Use>
HWY_INLINE void for_kept(uint64_t first, size_t count, float rate, DropoutKey key, const Soon& soon,
                         const Use& use) {
  constexpr size_t kValues = 256;
  const Lanes d;
  const hn::RebindToUnsigned<Lanes> words_of;
  const auto threshold = hn::Set(words_of, static_cast<uint32_t>(double{rate} * 0x1p32));
  const auto scale = hn::Set(d, 1 / (1 - rate));
  HWY_ALIGN uint32_t words[kValues + 4 + kSparePhiloxWords];
  for (size_t begin = 0; begin < count; begin += kValues) {
    const size_t values = std::min(kValues, count - begin);
    const uint64_t index = first + begin;
    const uint64_t block = index / 4;
    for (size_t i = 0; i < kValues; i += 16) soon(begin + 2 * kValues + i);
    philox_words(key.seed, key.stream, block, (index + values + 3) / 4 - block, words);
    const uint32_t* own = words + index % 4;
    for_lanes(values, [&](size_t i, size_t n) {
      const auto dropped = hn::Lt(hn::LoadU(words_of, own + i), threshold);
      use(begin + i, n, hn::IfThenZeroElse(hn::RebindMask(d, dropped), scale));
    });
  }
}

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
