#include "ops/update/sgd.h"

#include <cmath>

#include "ops/check.h"
#include "ops/update/row_catch_up.h"

namespace elias {

namespace cpu {  // sgd_cpu.cc
decltype(sgd) sgd;
decltype(sgd_catch_up) sgd_catch_up;
decltype(sgd_rows) sgd_rows;
}  // namespace cpu

namespace {

void check_settings(std::string_view op, const SgdSettings& settings) {
  if (!(settings.momentum >= 0 && settings.momentum < 1)) {
    throw InputError("{}: momentum is {}, but must be in [0, 1)", op, settings.momentum);
  }
  if (!(settings.weight_decay >= 0) || !std::isfinite(settings.weight_decay)) {
    throw InputError("{}: weight decay is {}, but must be finite and not negative", op,
                     settings.weight_decay);
  }
}

// The velocity is that of the weights, or neither given nor needed.
Device check_state(std::string_view op, const SgdSettings& settings, const SgdState& state) {
  if (settings.momentum > 0) {
    return check_alike(op, {{"weights", state.weights}, {"velocity", state.velocity}});
  }
  if (state.velocity) throw InputError("{}: velocity is given, but momentum is 0", op);
  return check_alike(op, {{"weights", state.weights}});
}

}  // namespace

void sgd(const Context& context, const SgdSettings& settings, float rate, ConstTensorView gradient,
         SgdState state) {
  constexpr std::string_view kOp = "sgd";
  check_settings(kOp, settings);
  if (!(rate >= 0) || !std::isfinite(rate)) {
    throw InputError("{}: rate is {}, but must be finite and not negative", kOp, rate);
  }
  const Device device = check_state(kOp, settings, state);
  check_alike(kOp, {{"weights", state.weights}, {"gradient", gradient}});
  require_cpu(kOp, device);
  cpu::sgd(context, settings, rate, gradient, state);
}

void sgd_catch_up(const Context& context, const SgdSettings& settings, const RateHistory& rates,
                  ConstTensorView rows, SgdState state, TensorView done_steps) {
  constexpr std::string_view kOp = "sgd, catch-up";
  check_settings(kOp, settings);
  const Device device = check_state(kOp, settings, state);
  check_catch_up(kOp, rates, rows, state.weights, done_steps);
  require_cpu(kOp, device);
  cpu::sgd_catch_up(context, settings, rates, rows, state, done_steps);
}

void sgd_rows(const Context& context, const SgdSettings& settings, const RateHistory& rates,
              const RowGradient& gradient, SgdState state, TensorView done_steps) {
  constexpr std::string_view kOp = "sgd, rows";
  check_settings(kOp, settings);
  const Device device = check_state(kOp, settings, state);
  check_last_step(kOp, rates, gradient, state.weights, done_steps);
  require_cpu(kOp, device);
  cpu::sgd_rows(context, settings, rates, gradient, state, done_steps);
}

}  // namespace elias
