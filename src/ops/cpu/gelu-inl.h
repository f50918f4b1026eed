// The normal distribution, as GELU needs it: GELU(x) = x P(X < x). Included once an instruction
// set, as row-inl.h.
#if defined(ELIAS_OPS_CPU_GELU_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ELIAS_OPS_CPU_GELU_INL_H
#undef ELIAS_OPS_CPU_GELU_INL_H
#else
#define ELIAS_OPS_CPU_GELU_INL_H
#endif

#include <hwy/highway.h>

#include "ops/cpu/exp-inl.h"
#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {

struct NormalAt {
  Vector below;    // P(X < x)
  Vector density;  // at x
};

// Both within 3e-7. With a = |x| and t = 1 / (1 + 0.33 a), P(X < -a) = exp(-a^2 / 2) t p(t), with
// the polynomial of degree 4 whose largest error in P is least: 7e-8.
HWY_INLINE NormalAt normal_at(Lanes d, Vector x) {
  const auto a = hn::Abs(x);
  const auto bell = exp_not_above_zero(d, hn::Mul(hn::Mul(a, a), hn::Set(d, -0.5F)));
  const auto one = hn::Set(d, 1.0F);
  const auto t = hn::Div(one, hn::MulAdd(a, hn::Set(d, 0.33F), one));
  auto p = hn::MulAdd(t, hn::Set(d, -0.110677019F), hn::Set(d, 0.379296154F));
  p = hn::MulAdd(p, t, hn::Set(d, -0.0962548554F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.206238806F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.121396951F));
  const auto tail = hn::Mul(hn::Mul(bell, t), p);
  return {.below = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Sub(one, tail), tail),
          .density = hn::Mul(bell, hn::Set(d, 0.398942280F))};
}

HWY_INLINE Vector gelu(Lanes d, Vector x) { return hn::Mul(x, normal_at(d, x).below); }

HWY_INLINE Vector gelu_slope(Lanes d, Vector x) {
  const NormalAt normal = normal_at(d, x);
  return hn::MulAdd(x, normal.density, normal.below);
}

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
