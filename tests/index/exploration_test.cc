#include "index/exploration.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "ops/lookup/top_k.h"
#include "ops/rows/softmax_clamp.h"
#include "tests/data/sparse.h"
#include "tests/index/graphs.h"
#include "tests/index/search_reference.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/softmax_clamp_reference.h"

namespace elias {
namespace {

using testing::ElementsAreArray;

constexpr int64_t kPoints = 23;
constexpr int64_t kClusters = 11;
constexpr int64_t kLabels = 60;
constexpr int64_t kBeam = 3;

// A batch with its clusters' scores. The graph reaches some labels on many paths, some on none.
struct Batch {
  Batch(const Context& context, float alpha, uint64_t seed = 1)
      : own(random_graph(kClusters, kLabels, 0.15, seed,
                         [](double uniform) { return static_cast<float>(1 - uniform); })),
        parents(label_parents(own.view())),
        matrix(random_csr(40, kLabels, 6, 4, seed)),
        points(kPoints),
        logits(random_floats({kPoints, kClusters}, seed, -2, 2)) {
    for (size_t i = 0; i < points.size(); ++i) points[i] = static_cast<uint32_t>((7 * i + 3) % 40);
    softmax_clamp(context, logits, alpha, scores, log_sums);
    top_k(context, logits, best_values, best);
    clusters = {
        .logits = logits, .scores = scores, .log_sums = log_sums, .best = best, .alpha = alpha};
  }

  BatchLabels labels() const { return {.matrix = &matrix, .points = points}; }
  std::span<const int32_t> best_of(size_t i) const {
    return best.span<int32_t>().subspan(i * kBeam, kBeam);
  }
  std::vector<float> scores_of(size_t i, std::span<const int32_t> list) const {
    std::vector<float> own_scores;
    for (const int32_t c : list) own_scores.push_back(scores.span<float>()[i * kClusters + c]);
    return own_scores;
  }

  ScoredGraph own;
  std::vector<int32_t> parents;
  Csr matrix;
  std::vector<uint32_t> points;
  Tensor logits;
  Tensor scores{{kPoints, kClusters}, DType::kFloat32};
  Tensor log_sums{{kPoints}, DType::kFloat32};
  Tensor best_values{{kPoints, kBeam}, DType::kFloat32};
  Tensor best{{kPoints, kBeam}, DType::kInt32};
  ClusterScores clusters;
};

struct Explored {
  Explored(const Context& context, const Batch& batch, const ExploreOptions& options, int64_t K)
      : exploration(kLabels), shortlists(kPoints, K) {
    exploration.search(context, options, batch.clusters, batch.own.view(), batch.labels(),
                       shortlists);
  }

  std::vector<int32_t> list(size_t i) const {
    const auto own = exploration.explored(i);
    return {own.begin(), own.end()};
  }

  Exploration exploration;
  Shortlists shortlists;
};

std::vector<int32_t> parents_of(const Batch& batch, size_t i) {
  std::vector<int32_t> parents;
  for (const uint32_t label : batch.labels().row(i).columns) {
    const int32_t parent = batch.parents[label];
    if (parent >= 0 && std::ranges::find(parents, parent) == parents.end()) {
      parents.push_back(parent);
    }
  }
  return parents;
}

class ExplorationTest : public testing::Test {
 protected:
  ThreadPool pool_{2};
  Context context_{pool_};
};

TEST_F(ExplorationTest, ListsHoldParentsThenTheBestThenOthers) {
  const Batch batch(context_, 4);
  for (const int64_t extra : {0, 2, 5, 100}) {
    const ExploreOptions options{
        .parents = batch.parents, .extra_clusters = extra, .seed = 5, .step = 9};
    const Explored explored(context_, batch, options, 10);
    for (size_t i = 0; i < kPoints; ++i) {
      SCOPED_TRACE(testing::Message() << "extra=" << extra << " i=" << i);
      const auto list = explored.list(i);
      auto expected = parents_of(batch, i);
      const auto parents = static_cast<int64_t>(expected.size());
      for (const int32_t cluster : batch.best_of(i)) {
        if (std::ranges::find(expected, cluster) == expected.end()) expected.push_back(cluster);
      }
      ASSERT_GE(list.size(), expected.size());
      EXPECT_THAT(std::vector(list.begin(), list.begin() + std::ssize(expected)),
                  ElementsAreArray(expected));
      EXPECT_LE(std::ssize(list), kBeam + std::max(extra, parents));
      EXPECT_EQ(std::set(list.begin(), list.end()).size(), list.size());
      for (const int32_t cluster : list) {
        EXPECT_TRUE(cluster >= 0 && cluster < kClusters) << cluster;
      }
      if (extra == 0) {
        EXPECT_EQ(list.size(), expected.size());
      }
      if (extra == 100) {
        EXPECT_EQ(list.size(), kClusters);  // so many draws hit all
      }
    }
  }
}

TEST_F(ExplorationTest, EveryStepTakesOtherRandomClusters) {
  const Batch batch(context_, 4);
  const auto lists = [&](uint64_t seed, uint64_t step) {
    const Explored explored(
        context_, batch,
        {.parents = batch.parents, .extra_clusters = 4, .seed = seed, .step = step}, 10);
    std::vector<std::vector<int32_t>> all;
    for (size_t i = 0; i < kPoints; ++i) all.push_back(explored.list(i));
    return all;
  };
  EXPECT_EQ(lists(1, 1), lists(1, 1));
  EXPECT_NE(lists(1, 1), lists(1, 2));
  EXPECT_NE(lists(1, 1), lists(2, 1));
  size_t without_labels = 0;  // a point whose list is not filled by parents
  while (batch.labels().row(without_labels).size() > 0) ++without_labels;
  std::set<int32_t> seen;
  for (uint64_t step = 0; step < 50; ++step) {
    const auto list = lists(1, step)[without_labels];
    seen.insert(list.begin(), list.end());
  }
  EXPECT_EQ(seen.size(), kClusters);
}

TEST_F(ExplorationTest, ShortlistsAreThoseOfTheSearch) {
  const Batch batch(context_, 4);
  const auto graph = batch.own.view();
  for (const int64_t K : {int64_t{1}, int64_t{10}, kLabels}) {
    Explored explored(context_, batch,
                      {.parents = batch.parents, .extra_clusters = 2, .seed = 5, .step = 9}, K);
    const Shortlists& lists = explored.shortlists;
    int64_t positives = 0;
    int64_t missed = 0;
    double loss = 0;
    for (size_t i = 0; i < kPoints; ++i) {
      SCOPED_TRACE(testing::Message() << "K=" << K << " i=" << i);
      const auto clusters = explored.list(i);
      const auto best = reference::explore(graph, clusters, batch.scores_of(i, clusters));
      const auto expected = reference::shortlist(best, static_cast<size_t>(K));
      const auto labels = lists.row<int32_t>(lists.labels, i);
      ASSERT_THAT(labels, ElementsAreArray(expected));
      for (size_t k = 0; k < expected.size(); ++k) {
        const reference::Path& path = best.at(expected[k]);
        EXPECT_EQ(lists.row<float>(lists.yhat, i)[k], path.score);
        EXPECT_EQ(lists.row<int32_t>(lists.edges, i)[k], path.edge);
        EXPECT_EQ(lists.row<int32_t>(lists.slots, i)[k], path.slot);
      }
      for (size_t k = expected.size(); k < static_cast<size_t>(K); ++k) {
        EXPECT_EQ(lists.labels.span<int32_t>()[i * static_cast<size_t>(K) + k], -1);
      }
      const CsrRow own = batch.labels().row(i);
      for (size_t j = 0; j < own.size(); ++j) {
        ++positives;
        const auto path = best.find(static_cast<int32_t>(own.columns[j]));
        // Its parent was explored: only a label in no row is missed.
        EXPECT_EQ(path == best.end(), batch.parents[own.columns[j]] < 0);
        missed += path == best.end() ? 1 : 0;
        if (path == best.end()) continue;
        loss -= double{own.values[j]} * std::log(double{path->second.score});
      }
    }
    EXPECT_EQ(explored.exploration.positives(), positives);
    EXPECT_EQ(explored.exploration.missed(), missed);
    EXPECT_GT(missed, 0);
    EXPECT_NEAR(explored.exploration.add_shortlist_loss(0.5F), loss, 1e-9 * loss);
  }
}

// A path that was taken, and what its log score counts.
struct WeightedPath {
  size_t point, cluster, edge;
  double weight;
};

// The sum over all paths that were taken of their weight times their log score, whose derivative
// the two gradients are.
struct PathSum {
  PathSum(const Batch& own, const Explored& explored, double positive_weight) : batch(own) {
    const Shortlists& lists = explored.shortlists;
    for (size_t i = 0; i < kPoints; ++i) {
      const auto clusters = explored.list(i);
      const auto add = [&](int32_t slot, int32_t edge, double weight) {
        paths.push_back(
            {i, static_cast<size_t>(clusters[slot]), static_cast<size_t>(edge), weight});
      };
      for (size_t k = 0; k < static_cast<size_t>(lists.counts[i]); ++k) {
        add(lists.row<int32_t>(lists.slots, i)[k], lists.row<int32_t>(lists.edges, i)[k],
            double{lists.row<float>(lists.dlog_yhat, i)[k]});
      }
      const auto best =
          reference::explore(batch.own.view(), clusters, batch.scores_of(i, clusters));
      const CsrRow row = batch.labels().row(i);
      for (size_t j = 0; j < row.size(); ++j) {
        const auto path = best.find(static_cast<int32_t>(row.columns[j]));
        if (path == best.end()) continue;
        add(path->second.slot, path->second.edge, -positive_weight * double{row.values[j]});
      }
    }
  }

  double of_logits(const std::vector<double>& logits) const {
    const auto scores = reference::softmax_clamp(logits, kClusters, double{batch.clusters.alpha});
    double sum = 0;
    for (const WeightedPath& path : paths) {
      sum += path.weight * std::log(scores.s[path.point * kClusters + path.cluster]);
    }
    return sum;
  }
  std::vector<double> of_edges() const {
    std::vector<double> sums(batch.own.scores.size());
    for (const WeightedPath& path : paths) sums[path.edge] += path.weight;
    return sums;
  }

  const Batch& batch;
  std::vector<WeightedPath> paths;
};

TEST_F(ExplorationTest, GradientsAreThoseOfThePathSum) {
  // No cluster clamped, some, nearly all.
  for (const float alpha : {0.9F, 4.0F, 40.0F}) {
    // A shortlist that leaves positives out, and one that has room for all.
    for (const int64_t K : {5, 40}) {
      for (const float weight : {0.0F, 0.7F}) {
        SCOPED_TRACE(testing::Message() << "alpha=" << alpha << " K=" << K << " w=" << weight);
        const Batch batch(context_, alpha);
        Explored explored(context_, batch,
                          {.parents = batch.parents, .extra_clusters = 2, .seed = 5, .step = 9}, K);
        explored.shortlists.dlog_yhat = random_floats({kPoints, K}, 8);
        if (weight > 0) explored.exploration.add_shortlist_loss(weight);
        Tensor dlogits = random_floats({kPoints, kClusters}, 9);  // they are set, not added to
        Tensor dedges = random_floats({batch.own.graph.edges()}, 9);
        explored.exploration.cluster_gradient(context_, batch.clusters, explored.shortlists,
                                              dlogits);
        explored.exploration.edge_gradient(context_, batch.own.view(), explored.shortlists,
                                           dedges.span<float>());
        const PathSum sum(batch, explored, double{weight});
        expect_gradient([&](const std::vector<double>& at) { return sum.of_logits(at); },
                        values_of<double>(batch.logits), values_of<double>(dlogits), 1e-6, 2e-5);
        expect_near(dedges, sum.of_edges(), 1e-6);
        const auto clamped = std::ranges::count(batch.scores.span<float>(), 1.0F);
        EXPECT_EQ(clamped > 0, alpha > 1);
      }
    }
  }
}

// The second batch is smaller and has other lists: nothing of the first shows.
TEST_F(ExplorationTest, BatchesDoNotShow) {
  const Batch first(context_, 4, 1);
  const Batch second(context_, 0.5F, 2);
  Explored both(context_, first,
                {.parents = first.parents, .extra_clusters = 6, .seed = 5, .step = 1}, 30);
  both.exploration.add_shortlist_loss(3);
  const ExploreOptions options{
      .parents = second.parents, .extra_clusters = 1, .seed = 5, .step = 2};
  both.exploration.search(context_, options, second.clusters, second.own.view(), second.labels(),
                          both.shortlists);
  const Explored alone(context_, second, options, 30);
  for (size_t i = 0; i < kPoints; ++i) {
    EXPECT_EQ(both.list(i), alone.list(i));
    EXPECT_THAT(both.shortlists.row<int32_t>(both.shortlists.labels, i),
                ElementsAreArray(alone.shortlists.row<int32_t>(alone.shortlists.labels, i)));
  }
  both.shortlists.dlog_yhat = random_floats({kPoints, 30}, 8);
  Tensor dlogits({kPoints, kClusters}, DType::kFloat32);
  both.exploration.cluster_gradient(context_, second.clusters, both.shortlists, dlogits);
  const PathSum sum(second, both, 0);  // the weight of the first batch is forgotten
  expect_gradient([&](const std::vector<double>& at) { return sum.of_logits(at); },
                  values_of<double>(second.logits), values_of<double>(dlogits), 1e-6, 2e-5);
}

TEST(ExplorationThreadsTest, SameBitsAtAnyThreadCount) {
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    const Batch batch(context, 4);
    Explored explored(context, batch,
                      {.parents = batch.parents, .extra_clusters = 2, .seed = 5, .step = 9}, 10);
    explored.shortlists.dlog_yhat = random_floats({kPoints, 10}, 8);
    explored.exploration.add_shortlist_loss(0.5F);
    Tensor dlogits({kPoints, kClusters}, DType::kFloat32);
    Tensor dedges({batch.own.graph.edges()}, DType::kFloat32);
    explored.exploration.cluster_gradient(context, batch.clusters, explored.shortlists, dlogits);
    explored.exploration.edge_gradient(context, batch.own.view(), explored.shortlists,
                                       dedges.span<float>());
    std::vector<Tensor> results;
    results.push_back(std::move(explored.shortlists.labels));
    results.push_back(std::move(dlogits));
    results.push_back(std::move(dedges));
    return results;
  });
}

}  // namespace
}  // namespace elias
