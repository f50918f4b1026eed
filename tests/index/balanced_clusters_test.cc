#include "index/balanced_clusters.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/errors.h"
#include "index/node_splitter.h"
#include "tests/data/sparse.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using testing::Each;
using testing::ElementsAre;

using Vector = std::vector<double>;

/// Every label with one point of its own, so that its centroid is the point's features.
LabelCentroids centroids_of(const Tensor& phi, const Csr& bow) {
  const size_t L = phi ? static_cast<size_t>(phi.shape()[0]) : bow.rows();
  std::vector<SparseRow> rows;
  for (uint32_t l = 0; l < L; ++l) rows.push_back({{l, 1}});
  ThreadPool pool(1);
  const Csr labels = csr_of(L, rows);
  Tensor sums;
  if (phi) {
    sums = Tensor(phi.shape(), DType::kFloat32);
    add_to_label_sums(labels, 0, phi, sums, pool);
  }
  return label_centroids(labels, std::move(sums), bow, std::numeric_limits<size_t>::max(), pool);
}

Vector centroid(const LabelCentroids& centroids, size_t l) {
  const size_t D = centroids.dense ? static_cast<size_t>(centroids.dense.shape()[1]) : 0;
  Vector vector(D + centroids.sparse.cols);
  for (size_t d = 0; d < D; ++d) vector[d] = centroids.dense.span<float>()[l * D + d];
  const CsrRow terms = centroids.sparse.row(l);
  for (size_t i = 0; i < terms.size(); ++i) vector[D + terms.columns[i]] = terms.values[i];
  return vector;
}

Vector minus(Vector a, const Vector& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

Vector unit_sum(const std::vector<Vector>& x, const std::vector<size_t>& members) {
  Vector sum(x[0].size());
  for (const size_t l : members) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += x[l][i];
  }
  const double length = std::sqrt(dot(sum, sum));
  for (double& value : sum) value = length > 0 ? value / length : 0;
  return sum;
}

// The twin: literal recursion on dense vectors in double. `members` rise.
void split(const std::vector<Vector>& x, const std::vector<size_t>& members, int level, size_t node,
           const ClusterOptions& options, std::vector<int32_t>& cluster_of) {
  if (level == options.depth) {
    for (const size_t l : members) cluster_of[l] = static_cast<int32_t>(node);
    return;
  }
  const size_t n = members.size();
  const Random random = node_random(options.seed, level, node);
  const size_t from = random.below(0, n);
  size_t to = random.below(1, n - 1);
  if (to >= from) ++to;
  Vector direction = minus(x[members[to]], x[members[from]]);
  std::vector<size_t> left, right;
  for (int iteration = 0; iteration < options.most_iterations; ++iteration) {
    if (iteration > 0) direction = minus(unit_sum(x, right), unit_sum(x, left));
    std::set<std::pair<double, size_t>> scored;
    for (const size_t l : members) scored.emplace(dot(direction, x[l]), l);
    std::set<size_t> lower;
    for (auto next = scored.begin(); lower.size() < n / 2; ++next) lower.insert(next->second);
    const std::vector<size_t> before = left;
    left.assign(lower.begin(), lower.end());
    right.clear();
    for (const size_t l : members) {
      if (!lower.contains(l)) right.push_back(l);
    }
    if (iteration > 0 && left == before) break;
  }
  split(x, left, level + 1, 2 * node, options, cluster_of);
  split(x, right, level + 1, 2 * node + 1, options, cluster_of);
}

std::vector<int32_t> literal_clusters(const LabelCentroids& centroids,
                                      const ClusterOptions& options) {
  const auto L = static_cast<size_t>(centroids.labels());
  std::vector<Vector> x;
  std::vector<size_t> members;
  for (size_t l = 0; l < L; ++l) {
    x.push_back(centroid(centroids, l));
    members.push_back(l);
  }
  std::vector<int32_t> cluster_of(L);
  split(x, members, 0, 0, options, cluster_of);
  return cluster_of;
}

void expect_balanced(const std::vector<int32_t>& cluster_of, int depth) {
  std::vector<size_t> sizes(size_t{1} << depth);
  for (const int32_t cluster : cluster_of) ++sizes.at(cluster);
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  EXPECT_LE(*most - *least, 1U);
}

int deepest(size_t L) { return static_cast<int>(std::log2(static_cast<double>(L))); }

TEST(BalancedClusters, MatchTheLiteralRecursion) {
  ThreadPool pool(3);
  const Tensor no_phi;
  const Csr no_bow;
  for (const int64_t L : {1, 2, 3, 4, 5, 17, 64, 150}) {
    for (const uint64_t seed : {1, 2, 3, 4}) {
      // The vocabulary is larger than what the small nodes have of it, and smaller than the root's.
      const Csr bow = random_csr(static_cast<size_t>(L), 200, 12, 100000, seed);
      const Tensor phi = random_floats({L, 11}, seed);
      for (const auto& centroids :
           {centroids_of(phi, bow), centroids_of(phi, no_bow), centroids_of(no_phi, bow)}) {
        for (int depth = 0; depth <= deepest(L); ++depth) {
          SCOPED_TRACE(testing::Message() << "L " << L << " seed " << seed << " depth " << depth);
          const ClusterOptions options{.depth = depth, .seed = seed};
          const auto cluster_of = balanced_clusters(centroids, options, pool);
          EXPECT_EQ(cluster_of, literal_clusters(centroids, options));
          expect_balanced(cluster_of, depth);
        }
      }
    }
  }
}

TEST(BalancedClusters, StopAfterTheMostIterations) {
  ThreadPool pool(1);
  const LabelCentroids centroids = centroids_of(random_floats({200, 30}, 1), {});
  std::set<std::vector<int32_t>> results;
  for (const int most : {1, 2, 3, 20}) {
    const ClusterOptions options{.depth = 1, .most_iterations = most, .seed = 5};
    const auto cluster_of = balanced_clusters(centroids, options, pool);
    EXPECT_EQ(cluster_of, literal_clusters(centroids, options)) << most;
    results.insert(cluster_of);
  }
  EXPECT_EQ(results.size(), 4U);
}

TEST(BalancedClusters, SumsInSeveralChunksMatchTheLiteralRecursion) {
  ThreadPool pool(2);
  const LabelCentroids centroids =
      centroids_of(random_floats({34000, 3}, 8), random_csr(34000, 4, 2, 1000, 9));
  const ClusterOptions options{.depth = 1, .most_iterations = 5, .seed = 7};
  EXPECT_TRUE(balanced_clusters(centroids, options, pool) == literal_clusters(centroids, options));
}

// Two far groups of two near groups each, their labels mixed.
TEST(BalancedClusters, FindTheGroupsThatAreThere) {
  ThreadPool pool(2);
  const int64_t L = 80;
  Tensor phi = random_floats({L, 6}, 1, -0.05F, 0.05F);
  for (int64_t l = 0; l < L; ++l) {
    const int64_t group = l % 4;
    phi.span<float>()[6 * l + group / 2] += 1;
    phi.span<float>()[6 * l + 2 + group] += 0.6F;
  }
  const LabelCentroids centroids = centroids_of(phi, {});
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto cluster_of = balanced_clusters(centroids, {.depth = 2, .seed = seed}, pool);
    std::set<std::pair<int64_t, int32_t>> pairs;
    for (int64_t l = 0; l < L; ++l) pairs.emplace(l % 4, cluster_of[l]);
    EXPECT_EQ(pairs.size(), 4U) << "seed " << seed;
  }
}

TEST(BalancedClusters, LabelsWithoutPointsFallByTheirIds) {
  LabelCentroids nothing;
  nothing.sparse.cols = 5;
  nothing.sparse.offsets.assign(8, 0);
  ThreadPool pool(1);
  EXPECT_THAT(balanced_clusters(nothing, {.depth = 1, .seed = 3}, pool),
              ElementsAre(0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(balanced_clusters(nothing, {.depth = 2, .seed = 4}, pool),
              ElementsAre(0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(balanced_clusters(nothing, {.depth = 0}, pool), Each(0));
}

TEST(BalancedClusters, RefuseMoreClustersThanLabels) {
  ThreadPool pool(1);
  const LabelCentroids three = centroids_of(random_floats({3, 2}, 1), {});
  EXPECT_THROW(balanced_clusters(three, {.depth = 2}, pool), InputError);
  EXPECT_THROW(balanced_clusters(three, {.depth = 64}, pool), InputError);
  EXPECT_THROW(balanced_clusters(three, {.depth = -1}, pool), InputError);
  EXPECT_TRUE(balanced_clusters({}, {.depth = 0}, pool).empty());
}

TEST(BalancedClustersThread, SameClustersAtAnyNumberOfThreads) {
  const LabelCentroids centroids =
      centroids_of(random_floats({34000, 4}, 1), random_csr(34000, 60, 6, 1000, 2));
  const ClusterOptions options{.depth = 4, .most_iterations = 5, .seed = 1};
  ThreadPool one(1);
  const auto expected = balanced_clusters(centroids, options, one);
  expect_balanced(expected, 4);
  for (const int threads : {2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_TRUE(balanced_clusters(centroids, options, pool) == expected) << threads;
  }
}

}  // namespace
}  // namespace elias
