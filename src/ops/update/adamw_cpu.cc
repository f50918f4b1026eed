// AdamW on the CPU: weights, moments and gradient are read once and the first three written once,
// which is all the time it takes. Square roots and divisions are exact ones: they hide behind
// memory.
#include "ops/cpu/runs.h"
#include "ops/update/adamw.h"
#include "ops/update/owned_rows.h"
#include "ops/update/row_catch_up.h"
#include "ops/update/step_scalars.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/update/adamw_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/weighted_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

void step_row(const AdamWStep& step, const float* gradient, size_t width, float* weights,
              float* first_moment, float* second_moment) {
  const Lanes d;
  const auto beta1 = hn::Set(d, step.beta1);
  const auto beta2 = hn::Set(d, step.beta2);
  const auto rest1 = hn::Set(d, step.rest1);
  const auto rest2 = hn::Set(d, step.rest2);
  const auto epsilon = hn::Set(d, step.epsilon);
  const auto weight_factor = hn::Set(d, step.weight_factor);
  const auto pull = hn::Set(d, step.pull);
  const auto inflation = hn::Set(d, step.inflation);
  for_lanes(width, [&](size_t i, size_t n) {
    const auto g = load(d, gradient + i, n);
    const auto m = flushed(hn::MulAdd(beta1, load(d, first_moment + i, n), hn::Mul(rest1, g)));
    const auto v =
        flushed(hn::MulAdd(beta2, load(d, second_moment + i, n), hn::Mul(hn::Mul(rest2, g), g)));
    const auto move = hn::Div(hn::Mul(pull, m), hn::MulAdd(inflation, hn::Sqrt(v), epsilon));
    store(hn::MulSub(weight_factor, load(d, weights + i, n), move), d, weights + i, n);
    store(m, d, first_moment + i, n);
    store(v, d, second_moment + i, n);
  });
}

// The terms [begin, end) are the row's gradient, for which `gradient` [width] is room.
template <typename Value>
void step_terms(const AdamWStep& step, const WeightedRows<Value>& terms, size_t begin, size_t end,
                float* gradient, float* weights, float* first_moment, float* second_moment) {
  sum_terms(terms, begin, end, /*is_new=*/true, gradient);
  step_row(step, gradient, terms.width, weights, first_moment, second_moment);
}

// In the notation of row_catch_up.h.
void catch_up_row(const AdamWCatchUp& catch_up, const AdamWSegment* segments, float epsilon_value,
                  size_t width, float* weights, float* first_moment, float* second_moment) {
  const Lanes d;
  const auto one = hn::Set(d, 1.0F);
  const auto epsilon = hn::Set(d, epsilon_value);
  const auto weight_factor = hn::Set(d, catch_up.weight_factor);
  const auto first_factor = hn::Set(d, catch_up.first_factor);
  const auto second_factor = hn::Set(d, catch_up.second_factor);
  for_lanes(width, [&](size_t i, size_t n) {
    const auto m = load(d, first_moment + i, n);
    const auto v = load(d, second_moment + i, n);
    const auto root = hn::Sqrt(v);
    auto pull = hn::Zero(d);
    for (int32_t at = catch_up.segments_begin; at < catch_up.segments_end; ++at) {
      const AdamWSegment& segment = segments[at];
      const auto scaled = hn::Mul(root, hn::Set(d, segment.centre));
      const auto inverse = hn::Div(one, hn::Add(scaled, epsilon));
      const auto q = hn::Mul(scaled, inverse);
      auto sum = hn::Set(d, segment.moments.back());
      for (size_t j = segment.moments.size() - 1; j-- > 0;) {
        sum = hn::MulAdd(sum, q, hn::Set(d, segment.moments[j]));
      }
      pull = hn::MulAdd(sum, inverse, pull);
    }
    const auto w = hn::Mul(weight_factor, load(d, weights + i, n));
    store(hn::NegMulAdd(m, pull, w), d, weights + i, n);
    store(flushed(hn::Mul(first_factor, m)), d, first_moment + i, n);
    store(flushed(hn::Mul(second_factor, v)), d, second_moment + i, n);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void adamw(const Context& context, const AdamWSettings& settings, float rate, int64_t step,
           ConstTensorView gradient, AdamWState state) {
  const auto kernel = ELIAS_BY_ISA(step_row)(context.isa());
  const AdamWStep scalars(settings, rate, step);
  for_runs(context.pool(), {gradient, state.weights, state.first_moment, state.second_moment},
           [&](const Run& run) {
             kernel(scalars, run.of<float>(gradient), run.count, run.of<float>(state.weights),
                    run.of<float>(state.first_moment), run.of<float>(state.second_moment));
           });
}

void adamw_catch_up(const Context& context, const AdamWSettings& settings, const RateHistory& rates,
                    ConstTensorView rows, AdamWState state, TensorView done_steps) {
  const auto kernel = ELIAS_BY_ISA(catch_up_row)(context.isa());
  const AdamWCatchUps catch_ups(context.pool(), settings, rates, rows, done_steps);
  const AdamWSegment* segments = catch_ups.segments().data();
  for_rows_behind(context.pool(), rates, rows, state.weights.width(), done_steps,
                  [&](const Run& row, int32_t done) {
                    kernel(catch_ups.after(done), segments, settings.epsilon, row.count,
                           row.of<float>(state.weights), row.of<float>(state.first_moment),
                           row.of<float>(state.second_moment));
                  });
}

void adamw_rows(const Context& context, const AdamWSettings& settings, const RateHistory& rates,
                const RowGradient& gradient, AdamWState state, TensorView done_steps) {
  const AdamWStep scalars(settings, rates.rate(rates.steps()), rates.steps());
  const auto step = [&]<typename Value>(auto kernel, Value) {
    for_gradient_rows<Value>(
        context.pool(), rates, gradient, done_steps,
        [&](const Run& row, const auto& terms, size_t begin, size_t end, float* sum) {
          kernel(scalars, terms, begin, end, sum, row.of<float>(state.weights),
                 row.of<float>(state.first_moment), row.of<float>(state.second_moment));
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
