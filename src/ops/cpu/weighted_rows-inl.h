// The weighted sum of a list of rows, for kernels of any instruction set.
//
// Rows come from memory, the sum stays in the cache: it is gone through once for every eight rows,
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
template <typename Value>
struct WeightedRow {
  const Value* row;
  const Value* ahead;
  float weight;
};

// Adds `count` weighted rows to sum [width], or sets it to them if it is new; calls for the rows
// ahead meanwhile. The sum's values are in the order of pairs of Value.
template <size_t count, typename Value>
HWY_INLINE void add_rows(const WeightedRow<Value>* rows, size_t width, bool is_new,
                         float* HWY_RESTRICT sum) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    Pair total = {hn::Zero(d), hn::Zero(d)};
    if (!is_new) total = load_pair(d, sum + i);
    for (size_t r = 0; r < count; ++r) {
      for (size_t line = 0; line < 2 * lanes; line += 64 / sizeof(Value)) {
        hwy::Prefetch(rows[r].ahead + i + line);
      }
      const auto weight = hn::Set(d, rows[r].weight);
      const Pair row = load_pair(d, rows[r].row + i);
      total.first = hn::MulAdd(weight, row.first, total.first);
      total.second = hn::MulAdd(weight, row.second, total.second);
    }
    hn::StoreU(total.first, d, sum + i);
    hn::StoreU(total.second, d, sum + i + lanes);
  }
  for (; i < width; i += lanes) {
    const size_t n = HWY_MIN(lanes, width - i);
    auto value = is_new ? hn::Zero(d) : load(d, sum + i, n);
    for (size_t r = 0; r < count; ++r) {
      value = hn::MulAdd(hn::Set(d, rows[r].weight), load(d, rows[r].row + i, n), value);
    }
    store(value, d, sum + i, n);
  }
}

// sum [width] = the terms [begin, end) of `rows`, added up in order; or, if it is not new, they are
// added to what it holds.
template <typename Value>
HWY_INLINE void sum_terms(const WeightedRows<Value>& rows, size_t begin, size_t end, bool is_new,
                          float* HWY_RESTRICT sum) {
  constexpr size_t kRows = 8;
  constexpr bool kParts = sizeof(Value) == 2;
  if (kParts && !is_new) part_pairs(rows.width, sum);
  WeightedRow<Value> next[kRows];
  size_t count = 0;
  for (size_t e = begin; e < end; ++e) {
    if (rows.points[e] < 0) continue;
    const Value* row = rows.source + rows.points[e] * rows.stride;
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
  size_t done = 0;
  if (count >= 4) {
    add_rows<4>(next, rows.width, is_new, sum);
    is_new = false;
    done = 4;
  }
  if (count - done == 3) {
    add_rows<3>(next + done, rows.width, is_new, sum);
  } else if (count - done == 2) {
    add_rows<2>(next + done, rows.width, is_new, sum);
  } else if (count - done == 1) {
    add_rows<1>(next + done, rows.width, is_new, sum);
  } else if (is_new) {
    add_rows<0>(next, rows.width, is_new, sum);
  }
  if (kParts) join_pairs(rows.width, sum);
}

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
