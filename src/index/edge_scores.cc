#include "index/edge_scores.h"

#include <cmath>

#include "ops/rows/softmax_clamp.h"

namespace elias {
namespace {

constexpr size_t kRowsPerChunk = 16;

}  // namespace

void score_edges(const Context& context, const LabelGraph& graph, std::span<const float> values,
                 float beta, std::span<float> scores, std::span<float> log_sums) {
  const auto C = static_cast<size_t>(graph.clusters());
  context.pool().for_chunks(C, kRowsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c) {
      const int64_t size = graph.offsets[c + 1] - graph.offsets[c];
      if (size == 0) continue;
      softmax_clamp(context, ConstTensorView(values.data() + graph.offsets[c], {1, size}), beta,
                    TensorView(scores.data() + graph.offsets[c], {1, size}),
                    TensorView(log_sums.data() + c, {1}));
    }
  });
}

void score_edges_backward(const Context& context, const LabelGraph& graph,
                          std::span<const float> values, std::span<const float> log_sums,
                          float beta, std::span<const float> dlog_scores,
                          std::span<float> dvalues) {
  const float log_beta = std::log(beta);
  const auto C = static_cast<size_t>(graph.clusters());
  context.pool().for_chunks(C, kRowsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c) {
      double sum = 0;  // of what passes the clamp
      for (int64_t e = graph.offsets[c]; e < graph.offsets[c + 1]; ++e) {
        if (dlog_scores[e] == 0 || values[e] - log_sums[c] + log_beta > 0) continue;
        dvalues[e] += dlog_scores[e];
        sum += double{dlog_scores[e]};
      }
      if (sum == 0) continue;
      const auto row_sum = static_cast<float>(sum);
      for (int64_t e = graph.offsets[c]; e < graph.offsets[c + 1]; ++e) {
        dvalues[e] -= row_sum * std::exp(values[e] - log_sums[c]);
      }
    }
  });
}

}  // namespace elias
