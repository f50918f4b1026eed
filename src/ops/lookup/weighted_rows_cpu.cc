// Weighted sums of rows on the CPU: one owner a sum.
#include "ops/lookup/weighted_rows.h"

#include "ops/cpu_chunks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/lookup/weighted_rows_cpu.cc"
#include "ops/simd/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/simd/weighted_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

void sum_lists(const WeightedRows& rows, const int32_t* offsets, size_t begin, size_t end,
               float* sums, size_t stride) {
  for (size_t r = begin; r < end; ++r) {
    sum_terms(rows, offsets[r], offsets[r + 1], sums + r * stride);
  }
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void sum_weighted_rows(const Context& context, ConstTensorView offsets, ConstTensorView points,
                       ConstTensorView weights, ConstTensorView source, TensorView sums) {
  const auto kernel = ELIAS_BY_ISA(sum_lists)(context.isa());
  const WeightedRows rows{.points = points.data<int32_t>(),
                          .weights = weights ? weights.data<float>() : nullptr,
                          .size = static_cast<size_t>(points.width()),
                          .source = source.data<float>(),
                          .stride = static_cast<size_t>(source.stride()),
                          .width = static_cast<size_t>(source.width())};
  const size_t lists = sums.shape()[0];
  const size_t terms_per_list = rows.size / std::max<size_t>(1, lists);
  context.pool().for_chunks(lists, rows_per_chunk(rows.width * (1 + terms_per_list)),
                            [&](size_t, size_t begin, size_t end) {
                              kernel(rows, offsets.data<int32_t>(), begin, end, sums.data<float>(),
                                     sums.stride());
                            });
}

}  // namespace elias::cpu
#endif
