// Conversion on the CPU: plain loops, which the compiler turns into vectors of each instruction
// set.
#include "ops/cpu/runs.h"
#include "ops/rows/convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/convert_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

void round_row(const float* HWY_RESTRICT x, size_t width, BFloat16* HWY_RESTRICT y) {
  for (size_t i = 0; i < width; ++i) y[i] = to_bfloat16(x[i]);
}

void widen_row(const BFloat16* HWY_RESTRICT x, size_t width, float* HWY_RESTRICT y) {
  for (size_t i = 0; i < width; ++i) y[i] = to_float(x[i]);
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {
namespace {

template <typename From, typename To>
void convert_runs(const Context& context, void (*kernel)(const From*, size_t, To*),
                  ConstTensorView x, TensorView y) {
  for_runs(context.pool(), {x, y},
           [&](const Run& run) { kernel(run.of<From>(x), run.count, run.of<To>(y)); });
}

}  // namespace

void convert(const Context& context, ConstTensorView x, TensorView y) {
  if (x.dtype() == DType::kFloat32) {
    convert_runs<float, BFloat16>(context, ELIAS_BY_ISA(round_row)(context.isa()), x, y);
  } else {
    convert_runs<BFloat16, float>(context, ELIAS_BY_ISA(widen_row)(context.isa()), x, y);
  }
}

void convert_rows(const Context& context, ConstTensorView x, ConstTensorView rows, TensorView y) {
  const auto kernel = ELIAS_BY_ISA(round_row)(context.isa());
  const auto ids = rows.span<int32_t>();
  context.pool().for_chunks(ids.size(), rows_per_chunk(x.width()),
                            [&](size_t, size_t begin, size_t end) {
                              for (const int32_t row : ids.subspan(begin, end - begin)) {
                                kernel(x.data<float>() + row * x.stride(), x.width(),
                                       y.data<BFloat16>() + row * y.stride());
                              }
                            });
}

}  // namespace elias::cpu
#endif
