// From groups of pairs to the gradient of the rows they name, on the CPU.
#pragma once

#include <utility>

#include "ops/cpu/chunks.h"
#include "ops/lookup/row_gradient.h"

namespace elias::cpu {

/// The point (row of the source) and weight that one position of the grouped keys stands for.
struct RowTerm {
  int32_t point;
  float weight;
};

/// The gradient whose rows are the groups' keys; term_of(position) gives their terms.
template <typename TermOf>
RowGradient row_gradient_of(const Context& context, KeyGroups groups, ConstTensorView source,
                            const TermOf& term_of) {
  RowGradient gradient;
  gradient.points = Tensor(groups.positions.shape(), DType::kInt32);
  gradient.weights = Tensor(groups.positions.shape(), DType::kFloat32);
  gradient.source = source;
  const auto positions = groups.positions.span<int32_t>();
  const auto points = gradient.points.span<int32_t>();
  const auto weights = gradient.weights.span<float>();
  context.pool().for_chunks(positions.size(), rows_per_chunk(1),
                            [&](size_t, size_t begin, size_t end) {
                              for (size_t e = begin; e < end; ++e) {
                                const RowTerm term = term_of(positions[e]);
                                points[e] = term.point;
                                weights[e] = term.weight;
                              }
                            });
  gradient.rows = std::move(groups.keys);
  gradient.offsets = std::move(groups.offsets);
  return gradient;
}

}  // namespace elias::cpu
