// exp for values that are not above zero, as softmax needs it: half the instructions of a general
// one. Included once an instruction set, as row-inl.h.
#if defined(ELIAS_OPS_CPU_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ELIAS_OPS_CPU_EXP_INL_H
#undef ELIAS_OPS_CPU_EXP_INL_H
#else
#define ELIAS_OPS_CPU_EXP_INL_H
#endif

#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {

// exp(x) for x <= 0 within 2 units in the last place. What would be below the smallest normal float
// is 0; a NaN stays one. Positive x up to 88, which rounding may leave, are fine too.
//
// exp(x) = 2^n exp(r), with n the integer nearest x / log 2 and |r| <= log(2) / 2. Adding 1.5 *
// 2^23 rounds to an integer and leaves it in the low bits; 127 more make these the exponent of 2^n.
HWY_INLINE Vector exp_not_above_zero(Lanes d, Vector x) {
  constexpr float kSmallest = -87.33654F;  // log of the smallest normal float
  constexpr float kRounding = 12582912.0F + 127.0F;
  const hn::RebindToUnsigned<Lanes> bits;
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), hn::Set(d, kRounding));
  const auto n = hn::Sub(shifted, hn::Set(d, kRounding));
  // log 2 in two parts: n times the first has no rounding error.
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  // The polynomial of degree 6, 1 + r + ..., whose largest relative error is least: 3e-9.
  auto p = hn::MulAdd(r, hn::Set(d, 0.00138145406F), hn::Set(d, 0.00836874545F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.041668389F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665211F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.49999994F));
  p = hn::MulAdd(hn::Mul(p, r), r, r);
  const auto power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
  const auto value = hn::MulAdd(p, power, power);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, kSmallest)), value);
}

// log(1 + u) for u in [0, 1] within 3 units in the last place.
//
// log(1 + u) = u p(u), with the polynomial of degree 9 whose largest relative error is least: 5e-9.
HWY_INLINE Vector log_one_plus(Lanes d, Vector u) {
  auto p = hn::MulAdd(u, hn::Set(d, -0.00324402285F), hn::Set(d, 0.0198514519F));
  p = hn::MulAdd(p, u, hn::Set(d, -0.0569595146F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.106036529F));
  p = hn::MulAdd(p, u, hn::Set(d, -0.153055914F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.196759388F));
  p = hn::MulAdd(p, u, hn::Set(d, -0.249541336F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.333299624F));
  p = hn::MulAdd(p, u, hn::Set(d, -0.499999024F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.999999995F));
  return hn::Mul(p, u);
}

}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggled guard
