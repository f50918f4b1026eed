// Rows are read from anywhere in memory, and there is little to compute: all lines of a row are
// called for before the first is used, so that they come at the same time.
#include "ops/lookup/row_dots.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/lookup/row_dots_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/cpu/dot_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

template <typename W>
void prepare(const float* x, size_t width, float* point) {
  const float* const ordered = in_order_of(x, static_cast<const W*>(nullptr), width, point);
  if (ordered != point) std::copy(x, x + width, point);
}

template <typename W>
HWY_INLINE const W* call_for(const BiasedRows& rows, int32_t id) {
  const W* const row = static_cast<const W*>(rows.w) + static_cast<size_t>(id) * rows.stride;
  for (size_t i = 0; i < rows.width; i += 64 / sizeof(W)) hwy::Prefetch(row + i);
  return row;
}

template <typename W>
void with_point(const BiasedRows& rows, const float* point, const int32_t* ids, size_t count,
                float* z) {
  for (size_t i = 0; i < HWY_MIN(kDotRows, count); ++i) call_for<W>(rows, ids[i]);
  dot_listed(point, static_cast<const W*>(rows.w), rows.stride, rows.width, rows.bias, ids, 0,
             count, count, z);
}

template <typename W>
float between(const BiasedRows& rows, int32_t a, int32_t b) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  const W* const other = call_for<W>(rows, b);
  const W* const own = static_cast<const W*>(rows.w) + static_cast<size_t>(a) * rows.stride;
  Vector sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto add = [&](size_t i, Vector& even, Vector& odd) HWY_ATTR {
    const Pair mine = load_pair(d, own + i), theirs = load_pair(d, other + i);
    even = hn::MulAdd(mine.first, theirs.first, even);
    odd = hn::MulAdd(mine.second, theirs.second, odd);
  };
  size_t i = 0;
  for (; i + 4 * lanes <= rows.width; i += 4 * lanes) {
    add(i, sums[0], sums[1]);
    add(i + 2 * lanes, sums[2], sums[3]);
  }
  for (; i < rows.width; i += lanes) {
    const size_t n = HWY_MIN(lanes, rows.width - i);
    sums[0] = hn::MulAdd(load(d, own + i, n), load(d, other + i, n), sums[0]);
  }
  const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum)) + rows.bias[a] * rows.bias[b];
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

RowDotKernels row_dot_kernels(Isa isa, DType dtype) {
  if (dtype == DType::kBFloat16) {
    return {.prepare = ELIAS_BY_ISA(prepare<BFloat16>)(isa),
            .with_point = ELIAS_BY_ISA(with_point<BFloat16>)(isa),
            .between = ELIAS_BY_ISA(between<BFloat16>)(isa)};
  }
  return {.prepare = ELIAS_BY_ISA(prepare<float>)(isa),
          .with_point = ELIAS_BY_ISA(with_point<float>)(isa),
          .between = ELIAS_BY_ISA(between<float>)(isa)};
}

}  // namespace elias::cpu
#endif
