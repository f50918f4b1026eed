// Layer norm on the CPU: a row is read from memory once and is in cache for the passes over it,
// during which the next one is fetched.
#include <algorithm>
#include <cmath>

#include "ops/cpu/chunks.h"
#include "ops/cpu/streaming.h"
#include "ops/rows/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/layer_norm_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// y = (x - mean) * inverse * gain + bias over one row; stores both statistics.
void normalise_row(const float* x, const float* x_next, const float* gain, const float* bias,
                   size_t width, float epsilon, bool streaming, float* y, float* mean,
                   float* inverse) {
  const Lanes d;
  const float row_mean = sum_of(width, [&](size_t i, size_t n) { return load(d, x + i, n); }) /
                         static_cast<float>(width);
  const auto centre = hn::Set(d, row_mean);
  // The masked lanes of a last, partial vector must not count (0 - mean)^2.
  const float squares = sum_of(width, [&](size_t i, size_t n) {
    hwy::Prefetch(x_next + i);
    const auto away = hn::IfThenElseZero(hn::FirstN(d, n), hn::Sub(load(d, x + i, n), centre));
    return hn::Mul(away, away);
  });
  const float row_inverse = 1.0F / std::sqrt(squares / static_cast<float>(width) + epsilon);
  const auto scale = hn::Set(d, row_inverse);
  for_lanes(width, [&](size_t i, size_t n) {
    const auto unit = hn::Mul(hn::Sub(load(d, x + i, n), centre), scale);
    store(hn::MulAdd(unit, load(d, gain + i, n), load(d, bias + i, n)), d, y + i, n, streaming);
  });
  *mean = row_mean;
  *inverse = row_inverse;
}

// With u = (x - mean) * inverse and g = dy * gain: dx = inverse * (g - mean(g) - u * mean(g * u)).
// Adds dy * u to dgain and dy to dbias.
void backward_row(const float* dy, const float* x, const float* dy_next, const float* x_next,
                  const float* gain, size_t width, float mean, float inverse, bool streaming,
                  float* dx, float* dgain, float* dbias) {
  const Lanes d;
  const auto centre = hn::Set(d, mean);
  const auto scale = hn::Set(d, inverse);
  auto sum_g = hn::Zero(d);
  auto sum_gu = hn::Zero(d);
  for_lanes(width, [&](size_t i, size_t n) {
    const auto gradient = load(d, dy + i, n);
    const auto unit = hn::Mul(hn::Sub(load(d, x + i, n), centre), scale);
    const auto g = hn::Mul(gradient, load(d, gain + i, n));
    sum_g = hn::Add(sum_g, g);
    sum_gu = hn::MulAdd(g, unit, sum_gu);
    store(hn::MulAdd(gradient, unit, load(d, dgain + i, n)), d, dgain + i, n);
    store(hn::Add(gradient, load(d, dbias + i, n)), d, dbias + i, n);
  });
  const auto per_value = hn::Set(d, 1.0F / static_cast<float>(width));
  const auto mean_g = hn::Mul(hn::SumOfLanes(d, sum_g), per_value);
  const auto mean_gu = hn::Mul(hn::SumOfLanes(d, sum_gu), per_value);
  for_lanes(width, [&](size_t i, size_t n) {
    hwy::Prefetch(dy_next + i);
    hwy::Prefetch(x_next + i);
    const auto unit = hn::Mul(hn::Sub(load(d, x + i, n), centre), scale);
    const auto g = hn::Mul(load(d, dy + i, n), load(d, gain + i, n));
    const auto away = hn::Sub(hn::Sub(g, mean_g), hn::Mul(unit, mean_gu));
    store(hn::Mul(scale, away), d, dx + i, n, streaming);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void layer_norm(const Context& context, ConstTensorView x, ConstTensorView gain,
                ConstTensorView bias, float epsilon, TensorView y, LayerNormSaved saved) {
  const auto kernel = ELIAS_BY_ISA(normalise_row)(context.isa());
  const size_t width = x.width();
  const bool streaming = streams(y, {x});
  context.pool().for_chunks(x.rows(), rows_per_chunk(width), [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const size_t after = std::min(row + 1, end - 1);
      kernel(x.data<float>() + row * x.stride(), x.data<float>() + after * x.stride(),
             gain.data<float>(), bias.data<float>(), width, epsilon, streaming,
             y.data<float>() + row * y.stride(), saved.mean.data<float>() + row,
             saved.inverse_deviation.data<float>() + row);
    }
    if (streaming) finish_streaming();
  });
}

void layer_norm_backward(const Context& context, ConstTensorView dy, ConstTensorView x,
                         ConstTensorView gain, LayerNormSaved saved, TensorView dx,
                         TensorView dgain, TensorView dbias) {
  const auto kernel = ELIAS_BY_ISA(backward_row)(context.isa());
  const size_t rows = x.rows();
  const size_t width = x.width();
  // A chunk sums its own rows; the chunks are added in order, so threads do not show in the bits.
  const size_t grain = rows_per_partial_sum(rows);
  const bool streaming = streams(dx, {dy, x});
  PartialSums sums(chunk_count(rows, grain), 2 * width);
  context.pool().for_chunks(rows, grain, [&](size_t chunk, size_t begin, size_t end) {
    float* own = sums.row(chunk);
    for (size_t row = begin; row < end; ++row) {
      const size_t after = std::min(row + 1, end - 1);
      kernel(dy.data<float>() + row * dy.stride(), x.data<float>() + row * x.stride(),
             dy.data<float>() + after * dy.stride(), x.data<float>() + after * x.stride(),
             gain.data<float>(), width, saved.mean.data<float>()[row],
             saved.inverse_deviation.data<float>()[row], streaming,
             dx.data<float>() + row * dx.stride(), own, own + width);
    }
    if (streaming) finish_streaming();
  });
  sums.add_to(0, {dgain.data<float>(), width});
  sums.add_to(width, {dbias.data<float>(), width});
}

}  // namespace elias::cpu
#endif
