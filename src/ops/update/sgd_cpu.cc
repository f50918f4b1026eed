// Stochastic gradient descent on the CPU: everything is read and written once.
#include "ops/cpu/runs.h"
#include "ops/update/owned_rows.h"
#include "ops/update/row_catch_up.h"
#include "ops/update/sgd.h"
#include "ops/update/step_scalars.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/update/sgd_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/weighted_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// Without a velocity (null) the gradient is the velocity.
void step_row(const SgdStep& step, const float* gradient, size_t width, float* weights,
              float* velocity) {
  const Lanes d;
  const auto weight_factor = hn::Set(d, step.weight_factor);
  const auto rate = hn::Set(d, step.rate);
  const auto momentum = hn::Set(d, step.momentum);
  for_lanes(width, [&](size_t i, size_t n) {
    auto u = load(d, gradient + i, n);
    if (velocity) {
      u = flushed(hn::MulAdd(momentum, load(d, velocity + i, n), u));
      store(u, d, velocity + i, n);
    }
    const auto w = hn::Mul(weight_factor, load(d, weights + i, n));
    store(hn::NegMulAdd(rate, u, w), d, weights + i, n);
  });
}

// The terms [begin, end) are the row's gradient, for which `gradient` [width] is room.
template <typename Value>
void step_terms(const SgdStep& step, const WeightedRows<Value>& terms, size_t begin, size_t end,
                float* gradient, float* weights, float* velocity) {
  sum_terms(terms, begin, end, /*is_new=*/true, gradient);
  step_row(step, gradient, terms.width, weights, velocity);
}

void catch_up_row(const SgdCatchUp& catch_up, size_t width, float* weights, float* velocity) {
  const Lanes d;
  const auto weight_factor = hn::Set(d, catch_up.weight_factor);
  const auto carry = hn::Set(d, catch_up.carry);
  const auto velocity_factor = hn::Set(d, catch_up.velocity_factor);
  for_lanes(width, [&](size_t i, size_t n) {
    auto w = hn::Mul(weight_factor, load(d, weights + i, n));
    if (velocity) {
      const auto u = load(d, velocity + i, n);
      w = hn::NegMulAdd(carry, u, w);
      store(flushed(hn::Mul(velocity_factor, u)), d, velocity + i, n);
    }
    store(w, d, weights + i, n);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {
namespace {

float* velocity_of(const SgdState& state, const Run& run) {
  return state.velocity ? run.of<float>(state.velocity) : nullptr;
}

}  // namespace

void sgd(const Context& context, const SgdSettings& settings, float rate, ConstTensorView gradient,
         SgdState state) {
  const auto kernel = ELIAS_BY_ISA(step_row)(context.isa());
  const SgdStep step(settings, rate);
  const ConstTensorView velocity = state.velocity ? state.velocity : state.weights;
  for_runs(context.pool(), {gradient, state.weights, velocity}, [&](const Run& run) {
    kernel(step, run.of<float>(gradient), run.count, run.of<float>(state.weights),
           velocity_of(state, run));
  });
}

void sgd_catch_up(const Context& context, const SgdSettings& settings, const RateHistory& rates,
                  ConstTensorView rows, SgdState state, TensorView done_steps) {
  const auto kernel = ELIAS_BY_ISA(catch_up_row)(context.isa());
  int64_t first = rates.steps();  // the fewest done steps of the rows
  for (const int32_t row : rows.span<int32_t>()) {
    first = std::min<int64_t>(first, done_steps.data<int32_t>()[row]);
  }
  const std::vector<SgdCatchUp> catch_ups = sgd_catch_ups(settings, rates, first);
  for_rows_behind(context.pool(), rates, rows, state.weights.width(), done_steps,
                  [&](const Run& row, int32_t done) {
                    kernel(catch_ups[done - first], row.count, row.of<float>(state.weights),
                           velocity_of(state, row));
                  });
}

void sgd_rows(const Context& context, const SgdSettings& settings, const RateHistory& rates,
              const RowGradient& gradient, SgdState state, TensorView done_steps) {
  const SgdStep scalars(settings, rates.rate(rates.steps()));
  const auto step = [&]<typename Value>(auto kernel, Value) {
    for_gradient_rows<Value>(
        context.pool(), rates, gradient, done_steps,
        [&](const Run& row, const auto& terms, size_t begin, size_t end, float* sum) {
          kernel(scalars, terms, begin, end, sum, row.of<float>(state.weights),
                 velocity_of(state, row));
        });
  };
  if (gradient.source.dtype() == DType::kBFloat16) {
    step(ELIAS_BY_ISA(step_terms<BFloat16>)(context.isa()), BFloat16());
  } else {
    step(ELIAS_BY_ISA(step_terms<float>)(context.isa()), float());
  }
}

}  // namespace elias::cpu
#endif
