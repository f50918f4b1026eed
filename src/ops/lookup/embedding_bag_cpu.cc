// The backward pass of embedding bags on the CPU. The forward pass is a sum that
// weighted_rows_cpu.cc makes.
#include "ops/lookup/embedding_bag.h"
#include "ops/lookup/row_terms.h"

namespace elias::cpu {

RowGradient embedding_bag_backward(const Context& context, const Bags& bags, ConstTensorView dy,
                                   int64_t V) {
  // Which point a feature belongs to; the offsets only say it the other way round.
  const auto offsets = bags.offsets.span<int32_t>();
  AlignedBuffer<int32_t> points(bags.ids.width());
  const size_t N = dy.shape()[0];
  context.pool().for_chunks(N, rows_per_chunk(1 + points.size() / std::max<size_t>(1, N)),
                            [&](size_t, size_t begin, size_t end) {
                              for (size_t i = begin; i < end; ++i) {
                                std::fill(points.data() + offsets[i],
                                          points.data() + offsets[i + 1], static_cast<int32_t>(i));
                              }
                            });
  const auto weights = bags.weights.span<float>();
  return row_gradient_of(context, group_by_key(context, bags.ids, V), dy, [&](int32_t position) {
    return RowTerm{points[position], weights[position]};
  });
}

}  // namespace elias::cpu
