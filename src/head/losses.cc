// All values of an entry come from u = exp(-|z|), which is in (0, 1]: sigma is 1 / (1 + u) or
// u / (1 + u), and 1 - p = (1 - yhat) + yhat (1 - sigma) loses no digits where p is near 1. It is
// never 0 either: 1 - yhat may be, but u is at least the smallest normal float.
#include "head/losses.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "head/losses.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "ops/cpu/exp-inl.h"
#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

constexpr float kLogFloor = -100.0F;
// The most that d loss / d log yhat may be: one entry with yhat = 1 and a large z should not undo
// all that its cluster has learned.
constexpr float kMostOdds = 1e12F;

struct Sigmoid {
  Vector value;         // sigma
  Vector rest;          // 1 - sigma
  Vector log_one_plus;  // log(1 + exp(-|z|))
};

HWY_INLINE Sigmoid sigmoid(Lanes d, Vector z) {
  const auto one = hn::Set(d, 1.0F);
  const auto u = hn::Max(exp_not_above_zero(d, hn::Neg(hn::Abs(z))),
                         hn::Set(d, std::numeric_limits<float>::min()));
  const auto large = hn::Div(one, hn::Add(one, u));
  const auto small = hn::Mul(u, large);
  const auto negative = hn::Lt(z, hn::Zero(d));
  return {hn::IfThenElse(negative, small, large), hn::IfThenElse(negative, large, small),
          log_one_plus(d, u)};
}

// A sum of vectors in double precision, to which floats are added a few at a time.
class LossSum {
 public:
  HWY_INLINE LossSum() : part_(hn::Zero(Lanes())) {}

  HWY_INLINE void add(Vector values) {
    part_ = hn::Add(part_, values);
    if (++count_ % kVectorsPerPart == 0) take_part();
  }
  HWY_INLINE double total() {
    take_part();
    return total_;
  }

 private:
  static constexpr int kVectorsPerPart = 16;

  HWY_INLINE void take_part() {
    total_ += double{hn::GetLane(hn::SumOfLanes(Lanes(), part_))};
    part_ = hn::Zero(Lanes());
  }

  Vector part_;
  double total_ = 0;
  int count_ = 0;
};

LossSums entry_losses(const LossEntries& entries, const LossWeights& weights) {
  const Lanes d;
  const auto one = hn::Set(d, 1.0F);
  const auto floor = hn::Set(d, kLogFloor);
  const auto weight_p = hn::Set(d, weights.on_p);
  const auto weight_z = hn::Set(d, weights.on_z);
  LossSum sum_p;
  LossSum sum_z;
  for_lanes(entries.size, [&](size_t i, size_t n) {
    const auto within = hn::FirstN(d, n);
    const auto z = load(d, entries.z + i, n);
    const auto t = load(d, entries.targets + i, n);
    const auto not_t = hn::Sub(one, t);
    const auto yhat = hn::IfThenElse(within, load(d, entries.yhat + i, n), one);
    const Sigmoid s = sigmoid(d, z);
    const auto p = hn::Mul(yhat, s.value);
    const auto rest = hn::MulAdd(yhat, s.rest, hn::Sub(one, yhat));
    // d loss / d log p = (1 - t) p / (1 - p) - t; d log p / d log yhat = 1, and d log p / dz =
    // 1 - sigma, which takes from the odds what they grow without bound.
    const auto odds = hn::Div(p, rest);
    const auto on_yhat = hn::MulSub(not_t, hn::Min(odds, hn::Set(d, kMostOdds)), t);
    const auto on_sigma = hn::Mul(hn::MulSub(not_t, odds, t), s.rest);
    store(hn::Mul(weight_p, on_yhat), d, entries.dlog_yhat + i, n);
    store(hn::MulAdd(weight_p, on_sigma, hn::Mul(weight_z, hn::Sub(s.value, t))), d, entries.dz + i,
          n);

    const auto log_sigma = hn::Sub(hn::Min(z, hn::Zero(d)), s.log_one_plus);
    const auto log_p = hn::Max(floor, hn::Add(hn::Log(d, yhat), log_sigma));
    const auto log_rest = hn::Max(floor, hn::Log(d, rest));
    const auto on_p = hn::MulAdd(t, log_p, hn::Mul(not_t, log_rest));
    const auto on_z = hn::NegMulAdd(not_t, z, log_sigma);  // log(1 - sigma) = log sigma - z
    sum_p.add(hn::IfThenElseZero(within, on_p));
    sum_z.add(hn::IfThenElseZero(within, on_z));
  });
  return {.on_p = -sum_p.total(), .on_z = -sum_z.total()};
}

RejectionSums rejections(float weight, float bias, std::span<float> z) {
  const Lanes d;
  const auto weights = hn::Set(d, weight);
  const auto biases = hn::Set(d, bias);
  LossSum losses;
  LossSum gradients;
  for_lanes(z.size(), [&](size_t i, size_t n) {
    const auto within = hn::FirstN(d, n);
    const auto value = hn::Add(load(d, z.data() + i, n), biases);
    const Sigmoid s = sigmoid(d, value);
    const auto gradient = hn::Mul(weights, s.value);
    store(gradient, d, z.data() + i, n);
    const auto loss = hn::Add(hn::Max(value, hn::Zero(d)), s.log_one_plus);
    losses.add(hn::IfThenElseZero(within, loss));
    gradients.add(hn::IfThenElseZero(within, gradient));
  });
  return {.loss = losses.total(), .gradient = gradients.total()};
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace elias {

namespace cpu {

const auto kEntryLosses = ELIAS_BY_ISA(entry_losses);
const auto kRejections = ELIAS_BY_ISA(rejections);

}  // namespace cpu

LossSums shortlist_losses(Isa isa, const LossEntries& entries, const LossWeights& weights) {
  return cpu::kEntryLosses(isa)(entries, weights);
}

RejectionSums rejection_losses(Isa isa, float weight, float bias, std::span<float> z) {
  return cpu::kRejections(isa)(weight, bias, z);
}

}  // namespace elias

#endif
