// The weighted sum of a list of rows, for kernels of any instruction set.
//
// As many columns as registers can hold are summed over the whole list before they are written, so
// the sum is stored once and every column adds its terms in the order of the list, whatever the
// width of a vector.
#if defined(ELIAS_OPS_SIMD_WEIGHTED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ELIAS_OPS_SIMD_WEIGHTED_ROWS_INL_H_
#undef ELIAS_OPS_SIMD_WEIGHTED_ROWS_INL_H_
#else
#define ELIAS_OPS_SIMD_WEIGHTED_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/lookup/weighted_rows.h"
#include "ops/simd/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {

// Half the registers of AVX2 and AVX-512 hold sums.
inline constexpr size_t kSumVectors = HWY_MAX_BYTES == 64 ? 16 : 8;

// Terms ahead of which rows are called into the cache. These may belong to the next list: lists lie
// one behind the other.
inline constexpr size_t kTermsAhead = 4;

// sum[i] for `vectors` whole vectors of columns from `column` on.
template <size_t vectors>
HWY_INLINE void sum_columns(const WeightedRows& rows, size_t begin, size_t end, size_t column,
                            float* HWY_RESTRICT sum) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  const float* source = rows.source + column;
  Vector sums[vectors];
  for (size_t v = 0; v < vectors; ++v) sums[v] = hn::Zero(d);
  for (size_t e = begin; e < end; ++e) {
    if (e + kTermsAhead < rows.size && rows.points[e + kTermsAhead] >= 0) {
      const float* ahead = source + rows.points[e + kTermsAhead] * rows.stride;
      for (size_t i = 0; i < vectors * lanes; i += 16) hwy::Prefetch(ahead + i);
    }
    if (rows.points[e] < 0) continue;
    const float* row = source + rows.points[e] * rows.stride;
    const auto weight = hn::Set(d, rows.weights == nullptr ? 1.0F : rows.weights[e]);
    for (size_t v = 0; v < vectors; ++v) {
      sums[v] = hn::MulAdd(weight, hn::LoadU(d, row + v * lanes), sums[v]);
    }
  }
  for (size_t v = 0; v < vectors; ++v) hn::StoreU(sums[v], d, sum + column + v * lanes);
}

// sum [width] = the terms [begin, end) of `rows`, added up in order.
HWY_INLINE void sum_terms(const WeightedRows& rows, size_t begin, size_t end,
                          float* HWY_RESTRICT sum) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  size_t column = 0;
  for (; column + kSumVectors * lanes <= rows.width; column += kSumVectors * lanes) {
    sum_columns<kSumVectors>(rows, begin, end, column, sum);
  }
  for (; column + 4 * lanes <= rows.width; column += 4 * lanes) {
    sum_columns<4>(rows, begin, end, column, sum);
  }
  for (; column < rows.width; column += lanes) {
    const size_t n = HWY_MIN(lanes, rows.width - column);
    auto columns = hn::Zero(d);
    for (size_t e = begin; e < end; ++e) {
      if (rows.points[e] < 0) continue;
      const float* row = rows.source + rows.points[e] * rows.stride + column;
      const auto weight = hn::Set(d, rows.weights == nullptr ? 1.0F : rows.weights[e]);
      columns = hn::MulAdd(weight, load(d, row, n), columns);
    }
    store(columns, d, sum + column, n);
  }
}

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
