// A point's inner products with rows of a matrix that lie anywhere: four rows are taken at a time,
// and the next four called for meanwhile.
//
// Included once an instruction set, as row-inl.h is.
#if defined(ELIAS_OPS_CPU_DOT_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ELIAS_OPS_CPU_DOT_ROWS_INL_H
#undef ELIAS_OPS_CPU_DOT_ROWS_INL_H
#else
#define ELIAS_OPS_CPU_DOT_ROWS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {

constexpr size_t kDotRows = 4;

// x [width] in the order in which rows of W are read (row-inl.h, Pair); `room` is for it.
HWY_INLINE const float* in_order_of(const float* x, const float*, size_t, float*) { return x; }
HWY_INLINE const float* in_order_of(const float* x, const BFloat16*, size_t width, float* room) {
  std::copy(x, x + width, room);
  part_pairs(width, room);
  return room;
}

// dots[r] = x . rows[r]. Each has two sums of its own, taken in the same way whatever the others
// are, so a score does not depend on its place in a list.
template <typename W>
HWY_INLINE void dot_rows(const float* x, const W* const (&rows)[kDotRows],
                         const W* const (&ahead)[kDotRows], size_t width, float (&dots)[kDotRows]) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  Vector even[kDotRows];
  Vector odd[kDotRows];
  for (size_t r = 0; r < kDotRows; ++r) even[r] = odd[r] = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    const auto x0 = hn::LoadU(d, x + i);
    const auto x1 = hn::LoadU(d, x + i + lanes);
    for (size_t r = 0; r < kDotRows; ++r) {
      for (size_t line = 0; line < 2 * lanes; line += 64 / sizeof(W)) {
        hwy::Prefetch(ahead[r] + i + line);
      }
      const Pair row = load_pair(d, rows[r] + i);
      even[r] = hn::MulAdd(x0, row.first, even[r]);
      odd[r] = hn::MulAdd(x1, row.second, odd[r]);
    }
  }
  for (; i < width; i += lanes) {
    const size_t n = HWY_MIN(lanes, width - i);
    const auto x0 = load(d, x + i, n);
    for (size_t r = 0; r < kDotRows; ++r) {
      even[r] = hn::MulAdd(x0, load(d, rows[r] + i, n), even[r]);
    }
  }
  for (size_t r = 0; r < kDotRows; ++r) {
    dots[r] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[r], odd[r])));
  }
}

// z[k] for k in [begin, end) of one point's K ids; an id below 0 is an empty place, whose score is
// 0. x is in the order of W.
template <typename W>
HWY_INLINE void dot_listed(const float* x, const W* w, size_t stride, size_t width,
                           const float* bias, const int32_t* ids, size_t begin, size_t end,
                           size_t K, float* z) {
  // The row of an id; x itself, which is at hand, where there is none.
  const W* none = reinterpret_cast<const W*>(x);
  const auto row_of = [&](size_t k) { return k < K && ids[k] >= 0 ? w + ids[k] * stride : none; };
  const W* rows[kDotRows];
  const W* ahead[kDotRows];
  float dots[kDotRows];
  for (size_t r = 0; r < kDotRows; ++r) ahead[r] = row_of(begin + r);
  for (size_t k = begin; k < end; k += kDotRows) {
    for (size_t r = 0; r < kDotRows; ++r) {
      rows[r] = ahead[r];
      ahead[r] = row_of(k + kDotRows + r);
    }
    dot_rows(x, rows, ahead, width, dots);
    for (size_t r = 0; r < HWY_MIN(kDotRows, end - k); ++r) {
      const int32_t id = ids[k + r];
      z[k + r] = id < 0 ? 0.0F : dots[r] + (bias == nullptr ? 0.0F : bias[id]);
    }
  }
}

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
