// Row gradients on the CPU. The rows themselves are sums that weighted_rows_cpu.cc makes.
#include "ops/lookup/row_gradient.h"

#include "ops/cpu/chunks.h"

namespace elias::cpu {

void sum_row_weights(const Context& context, const RowGradient& gradient, TensorView sums) {
  const auto offsets = gradient.offsets.span<int32_t>();
  const auto weights = gradient.weights.span<float>();
  const size_t rows = gradient.size();
  const size_t terms_per_row = weights.size() / std::max<size_t>(1, rows);
  context.pool().for_chunks(rows, rows_per_chunk(1 + terms_per_row),
                            [&](size_t, size_t begin, size_t end) {
                              for (size_t r = begin; r < end; ++r) {
                                float sum = 0;
                                for (int32_t e = offsets[r]; e < offsets[r + 1]; ++e) {
                                  sum += weights[e];
                                }
                                sums.data<float>()[r] = sum;
                              }
                            });
}

}  // namespace elias::cpu
