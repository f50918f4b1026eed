#include "ops/update/adamw.h"

#include <cmath>

#include "ops/check.h"
#include "ops/update/row_catch_up.h"

namespace elias {

namespace cpu {  // adamw_cpu.cc
decltype(adamw) adamw;
decltype(adamw_catch_up) adamw_catch_up;
decltype(adamw_rows) adamw_rows;
}  // namespace cpu
namespace cuda {  // adamw_cuda.cu
decltype(adamw) adamw;
decltype(adamw_catch_up) adamw_catch_up;
decltype(adamw_rows) adamw_rows;
}  // namespace cuda

namespace {

void check_settings(std::string_view op, const AdamWSettings& settings) {
  for (const auto& [name, beta] :
       {std::pair("beta1", settings.beta1), std::pair("beta2", settings.beta2)}) {
    if (!(beta >= 0 && beta < 1)) {
      throw InputError("{}: {} is {}, but must be in [0, 1)", op, name, beta);
    }
  }
  // Less would make divisions by it overflow.
  constexpr float kLeastEpsilon = 1e-30F;
  if (!(settings.epsilon >= kLeastEpsilon) || !std::isfinite(settings.epsilon)) {
    throw InputError("{}: epsilon is {}, but must be finite and at least {}", op, settings.epsilon,
                     kLeastEpsilon);
  }
  if (!(settings.weight_decay >= 0) || !std::isfinite(settings.weight_decay)) {
    throw InputError("{}: weight decay is {}, but must be finite and not negative", op,
                     settings.weight_decay);
  }
}

Device check_state(std::string_view op, const AdamWState& state) {
  return check_alike(op, {{"weights", state.weights},
                          {"first moment", state.first_moment},
                          {"second moment", state.second_moment}});
}

}  // namespace

void adamw(const Context& context, const AdamWSettings& settings, float rate, int64_t step,
           ConstTensorView gradient, AdamWState state) {
  constexpr std::string_view kOp = "adamw";
  check_settings(kOp, settings);
  if (!(rate >= 0) || !std::isfinite(rate)) {
    throw InputError("{}: rate is {}, but must be finite and not negative", kOp, rate);
  }
  if (step < 1) throw InputError("{}: step is {}, but must be at least 1", kOp, step);
  const Device device = check_state(kOp, state);
  check_alike(kOp, {{"weights", state.weights}, {"gradient", gradient}});
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) {
      return cuda::adamw(context, settings, rate, step, gradient, state);
    }
  }
  cpu::adamw(context, settings, rate, step, gradient, state);
}

void adamw_catch_up(const Context& context, const AdamWSettings& settings, const RateHistory& rates,
                    ConstTensorView rows, AdamWState state, TensorView done_steps) {
  constexpr std::string_view kOp = "adamw, catch-up";
  check_settings(kOp, settings);
  const Device device = check_state(kOp, state);
  check_catch_up(kOp, rates, rows, state.weights, done_steps);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) {
      return cuda::adamw_catch_up(context, settings, rates, rows, state, done_steps);
    }
  }
  cpu::adamw_catch_up(context, settings, rates, rows, state, done_steps);
}

void adamw_rows(const Context& context, const AdamWSettings& settings, const RateHistory& rates,
                const RowGradient& gradient, AdamWState state, TensorView done_steps) {
  constexpr std::string_view kOp = "adamw, rows";
  check_settings(kOp, settings);
  const Device device = check_state(kOp, state);
  check_last_step(kOp, rates, gradient, state.weights, done_steps);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) {
      return cuda::adamw_rows(context, settings, rates, gradient, state, done_steps);
    }
  }
  cpu::adamw_rows(context, settings, rates, gradient, state, done_steps);
}

}  // namespace elias
