// The gradient of a linear layer's bias: the sum of the rows of dy.
#include "ops/cpu/chunks.h"
#include "ops/product/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/bias_gradient_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

template <typename Value>
HWY_INLINE void add_values(const Value* row, size_t width, float* sums) {
  const Lanes d;
  for_lanes(width, [&](size_t i, size_t n) {
    store(hn::Add(load(d, sums + i, n), load(d, row + i, n)), d, sums + i, n);
  });
}

void add_row(const ConstTensorView& dy, int64_t row, float* sums) {
  const auto width = static_cast<size_t>(dy.width());
  if (dy.dtype() == DType::kBFloat16) {
    add_values(dy.data<BFloat16>() + row * dy.stride(), width, sums);
  } else {
    add_values(dy.data<float>() + row * dy.stride(), width, sums);
  }
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void linear_bias_gradient(const Context& context, ConstTensorView dy, TensorView db) {
  const auto kernel = ELIAS_BY_ISA(add_row)(context.isa());
  const size_t rows = dy.rows();
  const size_t width = dy.width();
  const size_t grain = rows_per_partial_sum(rows);
  PartialSums sums(chunk_count(rows, grain), width);
  context.pool().for_chunks(rows, grain, [&](size_t chunk, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      kernel(dy, static_cast<int64_t>(row), sums.row(chunk));
    }
  });
  sums.add_to(0, {db.data<float>(), width});
}

}  // namespace elias::cpu
#endif
