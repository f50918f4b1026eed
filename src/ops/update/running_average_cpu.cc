// The running average on the CPU: one pass over memory, which bounds it.
#include "ops/cpu/runs.h"
#include "ops/update/running_average.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/update/running_average_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

void average_run(const float* weights, size_t count, float share, float* average) {
  const Lanes d;
  const auto shares = hn::Set(d, share);
  for_lanes(count, [&](size_t i, size_t n) {
    const auto old = load(d, average + i, n);
    const auto away = hn::Sub(load(d, weights + i, n), old);
    store(hn::MulAdd(away, shares, old), d, average + i, n);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void running_average(const Context& context, ConstTensorView weights, int64_t count,
                     TensorView average) {
  // The first average is the weights themselves, whatever was there before.
  if (count == 1) return copy(weights, average);
  const auto kernel = ELIAS_BY_ISA(average_run)(context.isa());
  const auto share = static_cast<float>(1.0 / static_cast<double>(count));
  for_runs(context.pool(), {weights, average}, [&](const Run& run) {
    kernel(run.of<float>(weights), run.count, share, run.of<float>(average));
  });
}

}  // namespace elias::cpu
#endif
