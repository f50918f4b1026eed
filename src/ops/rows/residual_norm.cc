#include "ops/rows/residual_norm.h"

#include <cmath>

#include "ops/check.h"

namespace elias {

namespace cpu {  // residual_norm_cpu.cc
decltype(residual_norm) residual_norm;
decltype(residual_norm_backward) residual_norm_backward;
}  // namespace cpu

namespace {

constexpr DType kFloat = DType::kFloat32;

}  // namespace

void residual_norm(const Context& context, const ResidualNormInput& input, TensorView sum,
                   TensorView y, LayerNormSaved saved) {
  constexpr std::string_view kOp = "residual norm";
  check(kOp, {{"residual", input.residual, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = input.residual.rows(), D = input.residual.width();
  const Operand residual{"residual", input.residual, kFloat, {N, D}};
  require_cpu(kOp, check(kOp, {residual,
                               {"x", input.x, float_type_of(input.x), {N, D}},
                               {"gain", input.gain, kFloat, {D}},
                               {"shift", input.shift, kFloat, {D}},
                               {"y", y, kFloat, {N, D}},
                               {"mean", saved.mean, kFloat, {N}},
                               {"inverse deviation", saved.inverse_deviation, kFloat, {N}}}));
  if (sum) check(kOp, {residual, {"sum", sum, float_type_of(sum), {N, D}}});
  if (!(input.epsilon > 0) || !std::isfinite(input.epsilon)) {
    throw InputError("{}: epsilon is {}, but must be finite and positive", kOp, input.epsilon);
  }
  check_dropout(kOp, input.dropout);
  cpu::residual_norm(context, input, sum, y, saved);
}

void residual_norm_backward(const Context& context, const ResidualNormInput& input,
                            ConstTensorView sum, LayerNormSaved saved, ConstTensorView dy,
                            TensorView dresidual, TensorView dx, TensorView dgain,
                            TensorView dshift) {
  constexpr std::string_view kOp = "residual norm, backward";
  check(kOp, {{"dy", dy, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = dy.rows(), D = dy.width();
  require_cpu(kOp, check(kOp, {{"dy", dy, kFloat, {N, D}},
                               {"sum", sum, float_type_of(sum), {N, D}},
                               {"gain", input.gain, kFloat, {D}},
                               {"mean", saved.mean, kFloat, {N}},
                               {"inverse deviation", saved.inverse_deviation, kFloat, {N}},
                               {"dresidual", dresidual, kFloat, {N, D}},
                               {"dx", dx, float_type_of(dx), {N, D}},
                               {"dgain", dgain, kFloat, {D}},
                               {"dshift", dshift, kFloat, {D}}}));
  check_dropout(kOp, input.dropout);
  cpu::residual_norm_backward(context, input, sum, saved, dy, dresidual, dx, dgain, dshift);
}

}  // namespace elias
