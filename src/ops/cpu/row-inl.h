// Loops over the values of one row, for kernels of any instruction set.
//
// Included once an instruction set by the sources that foreach_isa.h repeats, hence the guard that
// toggles. `Lanes` is a vector of floats; a loop's body gets the place `i` and the number `n` of
// values to take there, which is less than a vector's only at the end of a row.
#if defined(ELIAS_OPS_CPU_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ELIAS_OPS_CPU_ROW_INL_H
#undef ELIAS_OPS_CPU_ROW_INL_H
#else
#define ELIAS_OPS_CPU_ROW_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "ops/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Vector = hn::Vec<Lanes>;

// Zero for what is no normal float. A value that decays step by step would stay among the denormal
// ones for ever, on which processors are many times slower.
HWY_INLINE Vector flushed(Vector value) {
  const Lanes d;
  const auto least = hn::Set(d, std::numeric_limits<float>::min());
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(value), least), value);
}

// A whole vector is the usual case; a partial one is zero beyond n.
HWY_INLINE Vector load(Lanes d, const float* from, size_t n) {
  return HWY_LIKELY(n == hn::Lanes(d)) ? hn::LoadU(d, from)
                                       : hn::MaskedLoad(hn::FirstN(d, n), d, from);
}

// The same of bfloat16 values, as floats.
HWY_INLINE Vector load(Lanes d, const BFloat16* from, size_t n) {
  const hn::Rebind<uint16_t, Lanes> halves;
  const hn::RebindToUnsigned<Lanes> words;
  const auto floats = [&](const uint16_t* bits) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, hn::LoadU(halves, bits))));
  };
  const auto* bits = reinterpret_cast<const uint16_t*>(from);
  if (HWY_LIKELY(n == hn::Lanes(d))) return floats(bits);
  // Not MaskedLoad, which reads a whole, aligned vector of these where the hardware has no masks.
  HWY_ALIGN uint16_t part[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(bits, HWY_MIN(n, hn::Lanes(d)), part);  // n is no more, but GCC 12 thinks so
  return floats(part);
}

// Two vectors of one row. Floats come one behind the other; of bfloat16 values, which are widened
// fastest where they lie, those at even places come first, then those at odd ones.
struct Pair {
  Vector first, second;
};
HWY_INLINE Pair load_pair(Lanes d, const float* from) {
  return {hn::LoadU(d, from), hn::LoadU(d, from + hn::Lanes(d))};
}
HWY_INLINE Pair load_pair(Lanes d, const BFloat16* from) {
  const hn::RebindToUnsigned<Lanes> words;
  const auto both = hn::LoadU(words, reinterpret_cast<const uint32_t*>(from));
  return {hn::BitCast(d, hn::ShiftLeft<16>(both)),
          hn::BitCast(d, hn::And(both, hn::Set(words, 0xFFFF0000U)))};
}

// Brings the values of a row of floats into the order in which pairs of bfloat16 values come, or
// back. Those after the last whole pair stay where they are.
HWY_INLINE void part_pairs(size_t width, float* row) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i + 2 * lanes <= width; i += 2 * lanes) {
    Pair pair;
    hn::LoadInterleaved2(d, row + i, pair.first, pair.second);
    hn::StoreU(pair.first, d, row + i);
    hn::StoreU(pair.second, d, row + i + lanes);
  }
}
HWY_INLINE void join_pairs(size_t width, float* row) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i + 2 * lanes <= width; i += 2 * lanes) {
    const Pair pair = load_pair(d, row + i);
    hn::StoreInterleaved2(pair.first, pair.second, d, row + i);
  }
}

HWY_INLINE void store(Vector value, Lanes d, float* to, size_t n) {
  if (HWY_LIKELY(n == hn::Lanes(d))) {
    hn::StoreU(value, d, to);
  } else {
    hn::BlendedStore(value, hn::FirstN(d, n), d, to);
  }
}

// The same as bfloat16 values, rounded as to_bfloat16 does.
HWY_INLINE void store(Vector value, Lanes d, BFloat16* to, size_t n) {
  const hn::RebindToUnsigned<Lanes> words;
  const hn::RebindToSigned<Lanes> numbers;
  const hn::Rebind<uint16_t, Lanes> halves;
  const auto bits = hn::BitCast(words, value);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto tie = hn::And(upper, hn::Set(words, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(tie, hn::Set(words, 0x7FFFU))));
  const auto quiet = hn::Or(upper, hn::Set(words, 0x40U));
  const auto is_number = hn::RebindMask(words, hn::Eq(value, value));
  const auto result =
      hn::DemoteTo(halves, hn::BitCast(numbers, hn::IfThenElse(is_number, rounded, quiet)));
  auto* const place = reinterpret_cast<uint16_t*>(to);
  if (HWY_LIKELY(n == hn::Lanes(d))) return hn::StoreU(result, halves, place);
  HWY_ALIGN uint16_t part[HWY_MAX_BYTES / sizeof(float)];
  hn::StoreU(result, halves, part);
  std::copy_n(part, HWY_MIN(n, hn::Lanes(d)), place);
}

// As store, or past the caches (ops/cpu/streaming.h), which only whole, aligned vectors can.
HWY_INLINE void store(Vector value, Lanes d, float* to, size_t n, bool streaming) {
  if (streaming && HWY_LIKELY(n == hn::Lanes(d))) {
    hn::Stream(value, d, to);
  } else {
    store(value, d, to, n);
  }
}

// use(the row's elements, as they are: floats or bfloat16 values, from `column` on).
template <typename View, typename Use>
HWY_INLINE void with_row(const View& view, int64_t row, int64_t column, const Use& use) {
  const int64_t place = row * view.stride() + column;
  if (view.dtype() == DType::kBFloat16) {
    use(view.template data<BFloat16>() + place);
  } else {
    use(view.template data<float>() + place);
  }
}

// body(i, n) for every vector of a row, in order.
template <typename Body>
HWY_INLINE void for_lanes(size_t width, const Body& body) {
  const size_t lanes = hn::Lanes(Lanes());
  size_t i = 0;
  for (; i + lanes <= width; i += lanes) body(i, lanes);
  if (i < width) body(i, width - i);
}

// The sum over a row of value(i, n), a vector with zeros beyond n. Four sums run side by side,
// since one alone would wait for each addition to finish before the next.
template <typename Value>
HWY_INLINE float sum_of(size_t width, const Value& value) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  Vector sum0 = hn::Zero(d);
  Vector sum1 = sum0;
  Vector sum2 = sum0;
  Vector sum3 = sum0;
  size_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) {
    sum0 = hn::Add(sum0, value(i, lanes));
    sum1 = hn::Add(sum1, value(i + lanes, lanes));
    sum2 = hn::Add(sum2, value(i + 2 * lanes, lanes));
    sum3 = hn::Add(sum3, value(i + 3 * lanes, lanes));
  }
  for (; i + lanes <= width; i += lanes) sum0 = hn::Add(sum0, value(i, lanes));
  if (i < width) sum1 = hn::Add(sum1, value(i, width - i));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
