#include "index/edge_scores.h"

#include <gtest/gtest.h>

#include "tests/index/graphs.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/softmax_clamp_reference.h"

namespace elias {
namespace {

// Rows of 0 to 40 edges, the first and the last empty.
LabelGraph uneven_graph(int64_t C) {
  LabelGraph graph;
  graph.label_count = 40;
  RandomSequence random(1, 0);
  for (int64_t c = 0; c < C; ++c) {
    const bool empty = c == 0 || c == C - 1;
    const auto size = empty ? 0 : static_cast<int32_t>(random.below(41));
    for (int32_t label = 0; label < size; ++label) graph.labels.push_back(label);
    graph.offsets.push_back(graph.edges());
  }
  return graph;
}

std::vector<double> row_of(const std::vector<double>& all, const LabelGraph& graph, int64_t c) {
  return {all.begin() + graph.offsets[c], all.begin() + graph.offsets[c + 1]};
}

std::vector<double> scores_of(const LabelGraph& graph, const std::vector<double>& values,
                              double beta) {
  std::vector<double> all;
  for (int64_t c = 0; c < graph.clusters(); ++c) {
    const auto row = row_of(values, graph, c);
    if (row.empty()) continue;
    const auto scores = reference::softmax_clamp(row, row.size(), beta).s;
    all.insert(all.end(), scores.begin(), scores.end());
  }
  return all;
}

class EdgeScoresTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, EdgeScoresTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

// No edge clamped, some, nearly all.
constexpr float kBetas[] = {0.4F, 8, 300};

TEST_P(EdgeScoresTest, ForwardMatchesReference) {
  const LabelGraph graph = uneven_graph(50);
  const Tensor values = random_floats({graph.edges()}, 2, -3, 3);
  for (const float beta : kBetas) {
    Tensor scores({graph.edges()}, DType::kFloat32);
    Tensor log_sums({graph.clusters()}, DType::kFloat32);
    score_edges(context(), graph, values.span<float>(), beta, scores.span<float>(),
                log_sums.span<float>());
    expect_near(scores, scores_of(graph, values_of<double>(values), double{beta}), 1e-6);
    for (int64_t c = 0; c < graph.clusters(); ++c) {
      const auto row = row_of(values_of<double>(values), graph, c);
      if (row.empty()) continue;
      EXPECT_NEAR(log_sums.span<float>()[c],
                  reference::softmax_clamp(row, row.size(), double{beta}).log_sum[0], 1e-5);
    }
  }
}

// The gradient of a weighted sum of the logs of all scores, which a clamped one does not change.
TEST_P(EdgeScoresTest, BackwardIsTheDerivative) {
  const LabelGraph graph = uneven_graph(12);
  const Tensor values = random_floats({graph.edges()}, 2, -3, 3);
  for (const float beta : kBetas) {
    SCOPED_TRACE(beta);
    Tensor scores({graph.edges()}, DType::kFloat32);
    Tensor log_sums({graph.clusters()}, DType::kFloat32);
    score_edges(context(), graph, values.span<float>(), beta, scores.span<float>(),
                log_sums.span<float>());
    // Most edges of a batch are in no shortlist: their gradient is zero.
    Tensor weights = random_floats({graph.edges()}, 3);
    for (size_t e = 0; e < weights.span<float>().size(); e += 2) weights.span<float>()[e] = 0;
    Tensor dvalues = random_floats({graph.edges()}, 4, 1, 1);  // it is added to
    score_edges_backward(context(), graph, values.span<float>(), log_sums.span<float>(), beta,
                         weights.span<float>(), dvalues.span<float>());

    const auto weight = values_of<double>(weights);
    const auto loss = [&](const std::vector<double>& at) {
      const auto all = scores_of(graph, at, double{beta});
      double sum = 0;
      for (size_t e = 0; e < all.size(); ++e) sum += weight[e] * std::log(all[e]);
      return sum;
    };
    auto gradient = values_of<double>(dvalues);
    for (double& value : gradient) value -= 1;
    expect_gradient(loss, values_of<double>(values), gradient, 1e-6, 1e-5);
    size_t clamped = 0;
    for (const float score : scores.span<float>()) clamped += score == 1 ? 1 : 0;
    EXPECT_EQ(clamped > 0, beta > 1);
    EXPECT_LT(clamped, scores.span<float>().size());
  }
}

TEST(EdgeScoresThreadsTest, SameBitsAtAnyThreadCount) {
  const LabelGraph graph = uneven_graph(200);
  const Tensor values = random_floats({graph.edges()}, 2, -3, 3);
  const Tensor weights = random_floats({graph.edges()}, 3);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    Tensor scores({graph.edges()}, DType::kFloat32);
    Tensor log_sums({graph.clusters()}, DType::kFloat32);
    Tensor dvalues({graph.edges()}, DType::kFloat32);
    score_edges(context, graph, values.span<float>(), 8, scores.span<float>(),
                log_sums.span<float>());
    score_edges_backward(context, graph, values.span<float>(), log_sums.span<float>(), 8,
                         weights.span<float>(), dvalues.span<float>());
    std::vector<Tensor> results;
    results.push_back(std::move(scores));
    results.push_back(std::move(log_sums));
    results.push_back(std::move(dvalues));
    return results;
  });
}

}  // namespace
}  // namespace elias
