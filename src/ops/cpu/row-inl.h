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

#include <cstddef>
#include <limits>

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

HWY_INLINE void store(Vector value, Lanes d, float* to, size_t n) {
  if (HWY_LIKELY(n == hn::Lanes(d))) {
    hn::StoreU(value, d, to);
  } else {
    hn::BlendedStore(value, hn::FirstN(d, n), d, to);
  }
}

// As store, or past the caches (ops/cpu/streaming.h), which only whole, aligned vectors can.
HWY_INLINE void store(Vector value, Lanes d, float* to, size_t n, bool streaming) {
  if (streaming && HWY_LIKELY(n == hn::Lanes(d))) {
    hn::Stream(value, d, to);
  } else {
    store(value, d, to, n);
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
