// GELU's slope on the CPU: one pass over memory.
#include "ops/cpu/runs.h"
#include "ops/cpu/streaming.h"
#include "ops/rows/gelu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/gelu_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/gelu-inl.h"
#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

void gelu_backward_run(const float* dy, const float* x, size_t count, bool streaming, float* dx) {
  const Lanes d;
  for_lanes(count, [&](size_t i, size_t n) {
    store(hn::Mul(load(d, dy + i, n), gelu_slope(d, load(d, x + i, n))), d, dx + i, n, streaming);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void gelu_backward(const Context& context, ConstTensorView dy, ConstTensorView x, TensorView dx) {
  const auto kernel = ELIAS_BY_ISA(gelu_backward_run)(context.isa());
  const bool streaming = streams(dx, {dy, x});
  for_runs(context.pool(), {dy, x, dx}, [&](const Run& run) {
    kernel(run.of<float>(dy), run.of<float>(x), run.count, streaming, run.of<float>(dx));
    if (streaming) finish_streaming();
  });
}

}  // namespace elias::cpu
#endif
