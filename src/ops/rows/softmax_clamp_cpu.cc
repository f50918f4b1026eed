// Softmax and clamp on the CPU: a row is read from memory once and is in cache for three passes
// (largest; exp and sum; scale and clamp), during which the next row is fetched. The backward pass
// computes the exp anew: that is cheaper than memory for the probabilities of all rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/cpu/chunks.h"
#include "ops/cpu/streaming.h"
#include "ops/rows/softmax_clamp.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/softmax_clamp_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/cpu/exp-inl.h"
#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

constexpr float kLeftOut = -std::numeric_limits<float>::infinity();

// As load, but what is beyond n is left out of the softmax.
HWY_INLINE Vector load_scores(Lanes d, const float* from, size_t n) {
  if (HWY_LIKELY(n == hn::Lanes(d))) return hn::LoadU(d, from);
  const auto within = hn::FirstN(d, n);
  return hn::IfThenElse(within, hn::MaskedLoad(within, d, from), hn::Set(d, kLeftOut));
}

// The largest score of a row, -infinity if there is none. As in sum_of, four run side by side.
float largest_of(const float* z, size_t width) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  Vector max0 = hn::Set(d, kLeftOut);
  Vector max1 = max0;
  Vector max2 = max0;
  Vector max3 = max0;
  size_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) {
    max0 = hn::Max(max0, hn::LoadU(d, z + i));
    max1 = hn::Max(max1, hn::LoadU(d, z + i + lanes));
    max2 = hn::Max(max2, hn::LoadU(d, z + i + 2 * lanes));
    max3 = hn::Max(max3, hn::LoadU(d, z + i + 3 * lanes));
  }
  for (; i < width; i += lanes) {
    max0 = hn::Max(max0, load_scores(d, z + i, std::min(lanes, width - i)));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(max0, max1), hn::Max(max2, max3))));
}

// s = min(1, scale * exp(z) / sum(exp(z))) over one row; stores log(sum(exp(z))). The values of exp
// are kept in `work`, which may be s, unless that is stored past the caches.
void softmax_row(const float* z, const float* z_next, size_t width, float scale, bool streaming,
                 float* work, float* s, float* log_sum) {
  const Lanes d;
  const float largest = largest_of(z, width);
  // A row that is left out altogether has the sum 0, about any centre but its own.
  const float centre = largest == kLeftOut ? 0 : largest;
  const auto centres = hn::Set(d, centre);
  const float sum = sum_of(width, [&](size_t i, size_t n) {
    hwy::Prefetch(z_next + i);
    const auto value = exp_not_above_zero(d, hn::Sub(load_scores(d, z + i, n), centres));
    store(value, d, work + i, n);
    return value;
  });
  const auto factor = hn::Set(d, sum == 0 ? 0 : scale / sum);
  const auto one = hn::Set(d, 1.0F);
  for_lanes(width, [&](size_t i, size_t n) {
    const auto value = hn::Mul(load(d, work + i, n), factor);
    // Not Min, which would make 1 of a NaN.
    store(hn::IfThenElse(hn::Gt(value, one), one, value), d, s + i, n, streaming);
  });
  *log_sum = centre + std::log(sum);
}

// With p = softmax(z) and g = scale * ds where scale * p <= 1, else 0: dz = p * (g - sum(g * p)).
// p is kept in `work`.
void backward_row(const float* ds, const float* z, const float* ds_next, const float* z_next,
                  size_t width, float log_sum, float scale, bool streaming, float* work,
                  float* dz) {
  const Lanes d;
  // A row that is left out altogether: any centre but its own makes every p zero.
  const auto centre = hn::Set(d, log_sum == kLeftOut ? 0 : log_sum);
  const auto scales = hn::Set(d, scale);
  const auto one = hn::Set(d, 1.0F);
  const auto passed = [&](size_t i, size_t n, Vector p) {
    const auto clamped = hn::Gt(hn::Mul(scales, p), one);
    return hn::IfThenZeroElse(clamped, hn::Mul(scales, load(d, ds + i, n)));
  };
  const auto mean = hn::Set(d, sum_of(width, [&](size_t i, size_t n) {
                              hwy::Prefetch(z_next + i);
                              hwy::Prefetch(ds_next + i);
                              const auto p =
                                  exp_not_above_zero(d, hn::Sub(load_scores(d, z + i, n), centre));
                              store(p, d, work + i, n);
                              return hn::Mul(passed(i, n, p), p);
                            }));
  for_lanes(width, [&](size_t i, size_t n) {
    const auto p = load(d, work + i, n);
    store(hn::Mul(p, hn::Sub(passed(i, n, p), mean)), d, dz + i, n, streaming);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {
namespace {

// A row that this thread may use as it likes.
float* work_row(size_t width) {
  thread_local std::vector<float> row;
  row.resize(std::max(row.size(), width));
  return row.data();
}

}  // namespace

void softmax_clamp(const Context& context, ConstTensorView z, float scale, TensorView s,
                   TensorView log_sum) {
  const auto kernel = ELIAS_BY_ISA(softmax_row)(context.isa());
  const size_t width = z.width();
  const size_t rows = z.rows();
  const bool streaming = streams(s, {z});
  context.pool().for_chunks(rows, rows_per_chunk(width), [&](size_t, size_t begin, size_t end) {
    float* work = streaming ? work_row(width) : nullptr;
    for (size_t row = begin; row < end; ++row) {
      float* own = s.data<float>() + row * s.stride();
      const size_t after = std::min(row + 1, end - 1);
      kernel(z.data<float>() + row * z.stride(), z.data<float>() + after * z.stride(), width, scale,
             streaming, streaming ? work : own, own, log_sum.data<float>() + row);
    }
    if (streaming) finish_streaming();
  });
}

void softmax_clamp_backward(const Context& context, ConstTensorView ds, ConstTensorView z,
                            ConstTensorView log_sum, float scale, TensorView dz) {
  const auto kernel = ELIAS_BY_ISA(backward_row)(context.isa());
  const size_t width = z.width();
  const bool streaming = streams(dz, {ds, z});
  context.pool().for_chunks(z.rows(), rows_per_chunk(width), [&](size_t, size_t begin, size_t end) {
    float* work = work_row(width);
    for (size_t row = begin; row < end; ++row) {
      const size_t after = std::min(row + 1, end - 1);
      kernel(ds.data<float>() + row * ds.stride(), z.data<float>() + row * z.stride(),
             ds.data<float>() + after * ds.stride(), z.data<float>() + after * z.stride(), width,
             log_sum.data<float>()[row], scale, streaming, work,
             dz.data<float>() + row * dz.stride());
    }
    if (streaming) finish_streaming();
  });
}

}  // namespace elias::cpu
#endif
