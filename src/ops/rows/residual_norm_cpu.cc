// The residual norm on the CPU: what is to be normalised is made in the row of y, which is in cache
// for the passes over it.
#include "ops/rows/residual_norm.h"

#include <cmath>

#include "ops/cpu/chunks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/residual_norm_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/dropout-inl.h"
#include "ops/cpu/row-inl.h"

#ifndef ELIAS_RESIDUAL_NORM_RESULTS
#define ELIAS_RESIDUAL_NORM_RESULTS
namespace elias::cpu {

// What a row's backward pass writes to.
struct RowResults {
  float* dresidual;
  TensorView dx;
  float *dgain, *dshift;  // of a chunk of rows, added to
};

}  // namespace elias::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// y = residual + dropout(x) of a row.
template <typename Value>
HWY_INLINE void add_row(const ResidualNormInput& input, int64_t row, const Value* x, float* y) {
  const Lanes d;
  const size_t width = input.residual.width();
  const float* const residual = input.residual.data<float>() + row * input.residual.stride();
  if (input.dropout > 0) {
    for_kept(
        row * width, width, input.dropout, input.key, [](size_t) {},
        [&](size_t i, size_t n, Vector kept) {
          store(hn::MulAdd(load(d, x + i, n), kept, load(d, residual + i, n)), d, y + i, n);
        });
  } else {
    for_lanes(width, [&](size_t i, size_t n) {
      store(hn::Add(load(d, x + i, n), load(d, residual + i, n)), d, y + i, n);
    });
  }
}

void normalise_row(const ResidualNormInput& input, int64_t row, const TensorView& sum, float* y,
                   float* mean, float* inverse) {
  const Lanes d;
  const size_t width = input.residual.width();
  with_row(input.x, row, 0, [&](const auto* x) { add_row(input, row, x, y); });
  const float per_value = 1 / static_cast<float>(width);
  const float row_mean =
      sum_of(width, [&](size_t i, size_t n) { return load(d, y + i, n); }) * per_value;
  if (sum) {
    with_row(sum, row, 0, [&](auto* to) {
      for_lanes(width, [&](size_t i, size_t n) { store(load(d, y + i, n), d, to + i, n); });
    });
  }
  const auto centre = hn::Set(d, row_mean);
  // The masked lanes of a last, partial vector must not count (0 - mean)^2.
  const float squares = sum_of(width, [&](size_t i, size_t n) {
    const auto away = hn::IfThenElseZero(hn::FirstN(d, n), hn::Sub(load(d, y + i, n), centre));
    return hn::Mul(away, away);
  });
  const float row_inverse = 1 / std::sqrt(squares * per_value + input.epsilon);
  const auto scale = hn::Set(d, row_inverse);
  const float *const gain = input.gain.data<float>(), *const shift = input.shift.data<float>();
  for_lanes(width, [&](size_t i, size_t n) {
    const auto unit = hn::Mul(hn::Sub(load(d, y + i, n), centre), scale);
    store(hn::MulAdd(unit, load(d, gain + i, n), load(d, shift + i, n)), d, y + i, n);
  });
  *mean = row_mean;
  *inverse = row_inverse;
}

// With u = (sum - mean) * inverse and g = dy * gain: dsum = inverse * (g - mean(g) - u * mean(g
// u)).
template <typename Value>
HWY_INLINE void sum_backward(const float* dy, const Value* sum, const float* gain, size_t width,
                             float mean, float inverse, const RowResults& results) {
  const Lanes d;
  const auto centre = hn::Set(d, mean), scale = hn::Set(d, inverse);
  auto sum_g = hn::Zero(d), sum_gu = hn::Zero(d);
  for_lanes(width, [&](size_t i, size_t n) {
    const auto gradient = load(d, dy + i, n);
    const auto unit = hn::Mul(hn::Sub(load(d, sum + i, n), centre), scale);
    const auto g = hn::Mul(gradient, load(d, gain + i, n));
    sum_g = hn::Add(sum_g, g);
    sum_gu = hn::MulAdd(g, unit, sum_gu);
    store(hn::MulAdd(gradient, unit, load(d, results.dgain + i, n)), d, results.dgain + i, n);
    store(hn::Add(gradient, load(d, results.dshift + i, n)), d, results.dshift + i, n);
  });
  const auto per_value = hn::Set(d, 1.0F / static_cast<float>(width));
  const auto mean_g = hn::Mul(hn::SumOfLanes(d, sum_g), per_value);
  const auto mean_gu = hn::Mul(hn::SumOfLanes(d, sum_gu), per_value);
  for_lanes(width, [&](size_t i, size_t n) {
    const auto unit = hn::Mul(hn::Sub(load(d, sum + i, n), centre), scale);
    const auto g = hn::Mul(load(d, dy + i, n), load(d, gain + i, n));
    const auto away = hn::Sub(hn::Sub(g, mean_g), hn::Mul(unit, mean_gu));
    store(hn::Mul(scale, away), d, results.dresidual + i, n);
  });
}

void backward_row(const ResidualNormInput& input, int64_t row, const float* dy,
                  const ConstTensorView& sum, float mean, float inverse,
                  const RowResults& results) {
  const Lanes d;
  const size_t width = sum.width();
  with_row(sum, row, 0, [&](const auto* own) {
    sum_backward(dy, own, input.gain.data<float>(), width, mean, inverse, results);
  });
  const float* const dsum = results.dresidual;
  with_row(results.dx, row, 0, [&](auto* dx) {
    if (input.dropout > 0) {
      for_kept(
          row * width, width, input.dropout, input.key, [](size_t) {},
          [&](size_t i, size_t n, Vector kept) {
            store(hn::Mul(load(d, dsum + i, n), kept), d, dx + i, n);
          });
    } else {
      for_lanes(width, [&](size_t i, size_t n) { store(load(d, dsum + i, n), d, dx + i, n); });
    }
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void residual_norm(const Context& context, const ResidualNormInput& input, TensorView sum,
                   TensorView y, LayerNormSaved saved) {
  const auto kernel = ELIAS_BY_ISA(normalise_row)(context.isa());
  const size_t rows = y.rows();
  context.pool().for_chunks(rows, rows_per_chunk(y.width()), [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const auto place = static_cast<int64_t>(row);
      kernel(input, place, sum, y.data<float>() + place * y.stride(),
             saved.mean.data<float>() + row, saved.inverse_deviation.data<float>() + row);
    }
  });
}

void residual_norm_backward(const Context& context, const ResidualNormInput& input,
                            ConstTensorView sum, LayerNormSaved saved, ConstTensorView dy,
                            TensorView dresidual, TensorView dx, TensorView dgain,
                            TensorView dshift) {
  const auto kernel = ELIAS_BY_ISA(backward_row)(context.isa());
  const size_t rows = dy.rows(), width = dy.width();
  // A chunk sums its own rows; the chunks are added in order, so threads do not show in the bits.
  const size_t grain = rows_per_partial_sum(rows);
  PartialSums sums(chunk_count(rows, grain), 2 * width);
  context.pool().for_chunks(rows, grain, [&](size_t chunk, size_t begin, size_t end) {
    float* const own = sums.row(chunk);
    for (size_t row = begin; row < end; ++row) {
      const auto place = static_cast<int64_t>(row);
      kernel(input, place, dy.data<float>() + place * dy.stride(), sum,
             saved.mean.data<float>()[row], saved.inverse_deviation.data<float>()[row],
             {.dresidual = dresidual.data<float>() + place * dresidual.stride(),
              .dx = dx,
              .dgain = own,
              .dshift = own + width});
    }
  });
  sums.add_to(0, {dgain.data<float>(), width});
  sums.add_to(width, {dshift.data<float>(), width});
}

}  // namespace elias::cpu
#endif
