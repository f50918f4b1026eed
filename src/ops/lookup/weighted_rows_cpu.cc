// Weighted sums of rows on the CPU: one owner a sum.
#include "ops/lookup/weighted_rows.h"

#include "ops/cpu/chunks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/lookup/weighted_rows_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/weighted_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

template <typename Value>
void sum_list(const WeightedRows<Value>& rows, size_t begin, size_t end, bool is_new, float* sum) {
  sum_terms(rows, begin, end, is_new, sum);
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

template <>
SumTerms<float>* sum_terms_for(Isa isa) {
  return ELIAS_BY_ISA(sum_list<float>)(isa);
}
template <>
SumTerms<BFloat16>* sum_terms_for(Isa isa) {
  return ELIAS_BY_ISA(sum_list<BFloat16>)(isa);
}

namespace {

template <typename Value>
void sum_rows_of(const Context& context, ConstTensorView offsets, ConstTensorView points,
                 ConstTensorView weights, ConstTensorView source, TensorView sums) {
  const auto kernel = sum_terms_for<Value>(context.isa());
  const size_t lists = sums.shape()[0];
  const size_t size = points.width();
  const size_t width = source.width();
  const size_t columns = columns_per_sum(lists, width);
  const size_t blocks = chunk_count(width, columns);
  const size_t terms_per_list = size / std::max<size_t>(1, lists);
  const size_t grain = rows_per_chunk(columns * (1 + terms_per_list));
  context.pool().for_chunks(lists * blocks, grain, [&](size_t, size_t begin, size_t end) {
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t list = unit / blocks;
      const size_t column = unit % blocks * columns;
      const WeightedRows<Value> rows{.points = points.data<int32_t>(),
                                     .weights = weights ? weights.data<float>() : nullptr,
                                     .size = size,
                                     .source = source.data<Value>() + column,
                                     .stride = static_cast<size_t>(source.stride()),
                                     .width = std::min(columns, width - column)};
      const int32_t* ends = offsets.data<int32_t>() + list;
      kernel(rows, ends[0], ends[1], /*is_new=*/true,
             sums.data<float>() + list * sums.stride() + column);
    }
  });
}

}  // namespace

void sum_weighted_rows(const Context& context, ConstTensorView offsets, ConstTensorView points,
                       ConstTensorView weights, ConstTensorView source, TensorView sums) {
  const auto sum = source.dtype() == DType::kBFloat16 ? sum_rows_of<BFloat16> : sum_rows_of<float>;
  sum(context, offsets, points, weights, source, sums);
}

}  // namespace elias::cpu
#endif
