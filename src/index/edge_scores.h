// The scores of edges from their learned values: clamp(beta * softmax) over each row (ELIAS, eq.
// 2).
#pragma once

#include <cstdint>
#include <span>

#include "index/label_graph.h"
#include "ops/context.h"

namespace elias {

/// scores [E] of values [E], row by row; log_sums [C] are kept for the gradient.
void score_edges(const Context& context, const LabelGraph& graph, std::span<const float> values,
                 float beta, std::span<float> scores, std::span<float> log_sums);

/// From dlog_scores [E], the gradient with respect to the logs of the scores, adds to dvalues [E].
/// Clamped edges pass nothing on.
void score_edges_backward(const Context& context, const LabelGraph& graph,
                          std::span<const float> values, std::span<const float> log_sums,
                          float beta, std::span<const float> dlog_scores, std::span<float> dvalues);

}  // namespace elias
