// The weighted sum of a list of rows, for kernels of any instruction set.
//
// Rows come from memory, the sum stays in the cache: it is gone through once for every four rows,
// and each row is read from end to end at once, which suits memory better than several passes over
// the list. Every column adds its terms in the order of the list, whatever the width of a vector.
#if defined(ELIAS_OPS_CPU_WEIGHTED_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ELIAS_OPS_CPU_WEIGHTED_ROWS_INL_H
#undef ELIAS_OPS_CPU_WEIGHTED_ROWS_INL_H
#else
#define ELIAS_OPS_CPU_WEIGHTED_ROWS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"
#include "ops/lookup/weighted_rows.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {

// A row, its weight, and a row that is needed soon.
struct WeightedRow {
  const float* row;
  const float* ahead;
  float weight;
};

// Adds `count` weighted rows to sum [width], or sets it to them if it is new; calls for the rows
// ahead meanwhile.
template <size_t count>
HWY_INLINE void add_rows(const WeightedRow* rows, size_t width, bool is_new,
                         float* HWY_RESTRICT sum) {
  constexpr size_t kLine = 16;  // values of a cache line
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  const auto add = [&](size_t i, size_t n) HWY_ATTR {
    auto value = is_new ? hn::Zero(d) : load(d, sum + i, n);
    for (size_t r = 0; r < count; ++r) {
      value = hn::MulAdd(hn::Set(d, rows[r].weight), load(d, rows[r].row + i, n), value);
    }
    store(value, d, sum + i, n);
  };
  size_t i = 0;
  for (; i + kLine <= width; i += kLine) {
    for (size_t r = 0; r < count; ++r) hwy::Prefetch(rows[r].ahead + i);
    for (size_t j = 0; j < kLine; j += lanes) add(i + j, lanes);
  }
  for (; i < width; i += lanes) add(i, HWY_MIN(lanes, width - i));
}

// sum [width] = the terms [begin, end) of `rows`, added up in order; or, if it is not new, they are
// added to what it holds.
HWY_INLINE void sum_terms(const WeightedRows& rows, size_t begin, size_t end, bool is_new,
                          float* HWY_RESTRICT sum) {
  constexpr size_t kRows = 4;
  WeightedRow next[kRows];
  size_t count = 0;
  for (size_t e = begin; e < end; ++e) {
    if (rows.points[e] < 0) continue;
    const float* row = rows.source + rows.points[e] * rows.stride;
    // Lists lie one behind the other: what is ahead may be of the next.
    const bool more = e + kRows < rows.size && rows.points[e + kRows] >= 0;
    next[count++] = {.row = row,
                     .ahead = more ? rows.source + rows.points[e + kRows] * rows.stride : row,
                     .weight = rows.weights == nullptr ? 1.0F : rows.weights[e]};
    if (count < kRows) continue;
    add_rows<kRows>(next, rows.width, is_new, sum);
    is_new = false;
    count = 0;
  }
  if (count == 3) return add_rows<3>(next, rows.width, is_new, sum);
  if (count == 2) return add_rows<2>(next, rows.width, is_new, sum);
  if (count == 1) return add_rows<1>(next, rows.width, is_new, sum);
  if (is_new) add_rows<0>(next, rows.width, is_new, sum);
}

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
