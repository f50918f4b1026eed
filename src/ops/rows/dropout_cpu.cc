// Dropout on the CPU: the values of x are counted row by row.
#include "ops/cpu/runs.h"
#include "ops/cpu/streaming.h"
#include "ops/rows/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/dropout_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/cpu/dropout-inl.h"
#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// `count` values, of which the first is number `first` of its tensor.
void dropout_run(const float* x, uint64_t first, size_t count, float rate, DropoutKey key,
                 bool streaming, float* y) {
  const Lanes d;
  const auto soon = [&](size_t i) { hwy::Prefetch(x + i); };
  for_kept(first, count, rate, key, soon, [&](size_t i, size_t n, Vector kept) {
    store(hn::Mul(load(d, x + i, n), kept), d, y + i, n, streaming);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void dropout(const Context& context, ConstTensorView x, float rate, DropoutKey key, TensorView y) {
  const auto kernel = ELIAS_BY_ISA(dropout_run)(context.isa());
  const size_t width = x.width();
  const bool streaming = streams(y, {x});
  for_runs(context.pool(), {x, y}, [&](const Run& run) {
    kernel(run.of<float>(x), run.row * width + run.column, run.count, rate, key, streaming,
           run.of<float>(y));
    if (streaming) finish_streaming();
  });
}

}  // namespace elias::cpu
#endif
