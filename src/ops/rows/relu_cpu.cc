// ReLU on the CPU: one pass over memory, which bounds it.
#include "ops/cpu/runs.h"
#include "ops/cpu/streaming.h"
#include "ops/rows/relu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/relu_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

void relu_run(const float* x, size_t count, bool streaming, float* y) {
  const Lanes d;
  for_lanes(count, [&](size_t i, size_t n) {
    const auto value = load(d, x + i, n);
    // Not Max, which may make 0 of a NaN.
    store(hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value), d, y + i, n, streaming);
  });
}

void backward_run(const float* dy, const float* y, size_t count, bool streaming, float* dx) {
  const Lanes d;
  for_lanes(count, [&](size_t i, size_t n) {
    const auto positive = hn::Gt(load(d, y + i, n), hn::Zero(d));
    store(hn::IfThenElseZero(positive, load(d, dy + i, n)), d, dx + i, n, streaming);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void relu(const Context& context, ConstTensorView x, TensorView y) {
  const auto kernel = ELIAS_BY_ISA(relu_run)(context.isa());
  const bool streaming = streams(y, {x});
  for_runs(context.pool(), {x, y}, [&](const Run& run) {
    kernel(run.of<float>(x), run.count, streaming, run.of<float>(y));
    if (streaming) finish_streaming();
  });
}

void relu_backward(const Context& context, ConstTensorView dy, ConstTensorView y, TensorView dx) {
  const auto kernel = ELIAS_BY_ISA(backward_run)(context.isa());
  const bool streaming = streams(dx, {dy, y});
  for_runs(context.pool(), {dy, y, dx}, [&](const Run& run) {
    kernel(run.of<float>(dy), run.of<float>(y), run.count, streaming, run.of<float>(dx));
    if (streaming) finish_streaming();
  });
}

}  // namespace elias::cpu
#endif
