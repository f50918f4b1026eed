#include "index/graph_builder.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/errors.h"
#include "index/cluster_mass.h"
#include "tests/data/sparse.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

/// What stage 1 found for N points: b distinct clusters each, with one of `steps` scores.
struct Found {
  Tensor clusters, scores;
};

Found random_found(size_t N, int64_t C, int64_t b, uint64_t steps, uint64_t seed) {
  Found found{Tensor({static_cast<int64_t>(N), b}, DType::kInt32),
              Tensor({static_cast<int64_t>(N), b}, DType::kFloat32)};
  RandomSequence random(seed, 4);
  for (size_t i = 0; i < N; ++i) {
    const uint64_t first = random.below(C);
    for (int64_t j = 0; j < b; ++j) {
      found.clusters.span<int32_t>()[i * b + j] = static_cast<int32_t>((first + j * j) % C);
      found.scores.span<float>()[i * b + j] =
          static_cast<float>(random.below(steps + 1)) / static_cast<float>(steps);
    }
  }
  return found;
}

std::vector<int32_t> random_partition(size_t L, int64_t C, uint64_t seed) {
  const Tensor ids = random_ids({static_cast<int64_t>(L)}, seed, static_cast<int32_t>(C));
  return {ids.span<int32_t>().begin(), ids.span<int32_t>().end()};
}

BuiltGraph build(const Csr& labels, const Found& found, const std::vector<int32_t>& cluster_of,
                 int64_t C, const GraphOptions& options, size_t batch, ThreadPool& pool) {
  GraphBuilder builder(cluster_of, C, pool);
  for (size_t begin = 0; begin < labels.rows(); begin += batch) {
    const auto end = static_cast<int64_t>(std::min(labels.rows(), begin + batch));
    builder.add(labels, begin, found.clusters.view().slice(static_cast<int64_t>(begin), end),
                found.scores.view().slice(static_cast<int64_t>(begin), end));
  }
  return builder.finish(options);
}

using Dense = std::vector<std::vector<double>>;  // A', [C][L]

Dense literal_mass(const Csr& labels, const Found& found, size_t L, int64_t C) {
  Dense mass(C, std::vector<double>(L));
  const auto b = static_cast<size_t>(found.clusters.shape()[1]);
  for (size_t i = 0; i < labels.rows(); ++i) {
    for (size_t j = 0; j < labels.row(i).size(); ++j) {
      for (size_t k = i * b; k < (i + 1) * b; ++k) {
        mass[found.clusters.span<int32_t>()[k]][labels.row(i).columns[j]] +=
            found.scores.span<float>()[k] * labels.row(i).values[j];
      }
    }
  }
  return mass;
}

/// The `most` ids of the largest values above zero, of equal ones the lowest.
std::vector<size_t> largest(const std::vector<double>& values, size_t most) {
  std::vector<size_t> ids;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] > 0) ids.push_back(i);
  }
  std::stable_sort(ids.begin(), ids.end(),
                   [&](size_t a, size_t b) { return values[a] > values[b]; });
  ids.resize(std::min(ids.size(), most));
  return ids;
}

std::vector<double> column(const Dense& mass, size_t l) {
  std::vector<double> values;
  for (const auto& row : mass) values.push_back(row[l]);
  return values;
}

// The twin: the rows as published, then label by label the edges it must keep, then the smallest of
// the others out of the rows that are too long.
BuiltGraph literal_graph(const Csr& labels, const Found& found,
                         const std::vector<int32_t>& cluster_of, int64_t C,
                         const GraphOptions& options) {
  const size_t L = cluster_of.size(), most = options.most_edges;
  const Dense mass = literal_mass(labels, found, L, C);
  std::vector<std::set<size_t>> rows(C), kept(C);
  for (int64_t c = 0; c < C; ++c) {
    const auto top = largest(mass[c], most);
    rows[c] = {top.begin(), top.end()};
  }
  for (size_t l = 0; options.kept_clusters > 0 && l < L; ++l) {
    for (const size_t c : largest(column(mass, l), options.kept_clusters)) kept[c].insert(l);
    kept[cluster_of[l]].insert(l);
  }
  BuiltGraph built;
  built.graph.label_count = static_cast<int64_t>(L);
  std::set<size_t> covered;
  for (int64_t c = 0; c < C; ++c) {
    rows[c].insert(kept[c].begin(), kept[c].end());
    while (rows[c].size() > most) {
      std::set<std::tuple<double, int64_t>> others;  // the smallest first, of equals the highest id
      for (const size_t l : rows[c]) {
        if (!kept[c].contains(l)) others.emplace(mass[c][l], -static_cast<int64_t>(l));
      }
      if (others.empty()) break;
      rows[c].erase(-std::get<1>(*others.begin()));
    }
    for (const size_t l : rows[c]) {
      double total = 0;
      for (const double value : column(mass, l)) total += value;
      built.graph.labels.push_back(static_cast<int32_t>(l));
      built.shares.push_back(total > 0 ? static_cast<float>(mass[c][l] / total) : 0);
      covered.insert(l);
    }
    built.graph.offsets.push_back(built.graph.edges());
  }
  const auto counts = column_counts(labels);
  for (size_t l = 0; l < counts.size(); ++l)
    built.uncovered += counts[l] > 0 && !covered.contains(l);
  return built;
}

void expect_equal(const BuiltGraph& actual, const BuiltGraph& expected) {
  EXPECT_EQ(actual.graph.label_count, expected.graph.label_count);
  EXPECT_EQ(actual.graph.offsets, expected.graph.offsets);
  EXPECT_EQ(actual.graph.labels, expected.graph.labels);
  EXPECT_EQ(actual.shares, expected.shares);
  EXPECT_EQ(actual.uncovered, expected.uncovered);
}

TEST(GraphBuilder, MatchesTheLiteralProduct) {
  ThreadPool pool(2);
  int64_t uncovered = 0, over_full = 0;
  for (const size_t L : {1, 2, 3, 30, 120}) {
    for (const int64_t C : {1, 2, 7, 16}) {
      for (const uint64_t steps : {2, 1000}) {  // with and without ties
        const Csr labels = random_csr(150, L, 4, 2, L + steps);
        const Found found = random_found(150, C, std::min<int64_t>(C, 3), steps, L);
        const auto cluster_of = random_partition(L, C, 3);
        for (const int64_t kappa : {1, 5, 40}) {
          for (const int kept : {0, 1, 2, 5}) {
            SCOPED_TRACE(testing::Message() << "L " << L << " C " << C << " steps " << steps
                                            << " kappa " << kappa << " kept " << kept);
            const GraphOptions options{.most_edges = kappa, .kept_clusters = kept};
            const auto built = build(labels, found, cluster_of, C, options, 64, pool);
            expect_equal(built, literal_graph(labels, found, cluster_of, C, options));
            const std::set covered(built.graph.labels.begin(), built.graph.labels.end());
            EXPECT_TRUE(kept == 0 || covered.size() == L);
            uncovered += built.uncovered;
            over_full += built.graph.edges() > C * kappa;
          }
        }
      }
    }
  }
  EXPECT_GT(uncovered, 0);  // the cases do what they are for
  EXPECT_GT(over_full, 0);
}

// Cluster 0 is full with labels 0 and 1; label 2 is rare, label 3 has no points.
class RareLabels : public testing::Test {
 protected:
  RareLabels() {
    found_.clusters = tensor_of<int32_t>({5, 2}, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
    found_.scores = tensor_of<float>({5, 2}, {1, 0.5F, 1, 0.25F, 1, 0.25F, 1, 0, 0.5F, 0});
  }
  BuiltGraph with(const GraphOptions& options) {
    return build(labels_, found_, {1, 1, 1, 0}, 2, options, 2, pool_);
  }

  Csr labels_ = csr_of(4, {{{0, 1}}, {{0, 1}}, {{1, 1}}, {{1, 0.5F}}, {{2, 1}}});
  Found found_;
  ThreadPool pool_{1};
};

TEST_F(RareLabels, AreNowhereAsPublished) {
  const BuiltGraph built = with({.most_edges = 2, .kept_clusters = 0});
  EXPECT_THAT(built.graph.offsets, ElementsAre(0, 2, 4));
  EXPECT_THAT(built.graph.labels, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(built.uncovered, 1);
  EXPECT_FLOAT_EQ(built.shares[0], 2 / 2.75F);
  EXPECT_FLOAT_EQ(built.shares[3], 0.25F / 1.75F);
}

TEST_F(RareLabels, KeepTheirBestClusterAndThatOfStageOne) {
  const BuiltGraph built = with({.most_edges = 3, .kept_clusters = 1});
  EXPECT_THAT(built.graph.offsets, ElementsAre(0, 4, 7));  // row 0 has 4 edges to keep
  EXPECT_THAT(built.graph.labels, ElementsAre(0, 1, 2, 3, 0, 1, 2));
  EXPECT_EQ(built.shares[2], 1);
  EXPECT_EQ(built.shares[3], 0);  // of stage 1 alone
  EXPECT_EQ(built.shares[6], 0);
  EXPECT_EQ(built.uncovered, 0);
}

TEST(GraphBuilder, WithoutPointsStageOneIsLeft) {
  ThreadPool pool(1);
  const std::vector<int32_t> cluster_of{2, 0, 2};
  const BuiltGraph built = GraphBuilder(cluster_of, 3, pool).finish({});
  EXPECT_EQ(built.graph.offsets, partition_graph(cluster_of, 3).offsets);
  EXPECT_EQ(built.graph.labels, partition_graph(cluster_of, 3).labels);
  EXPECT_THAT(built.shares, Each(0));
  const BuiltGraph published = GraphBuilder(cluster_of, 3, pool).finish({.kept_clusters = 0});
  EXPECT_THAT(published.graph.labels, IsEmpty());
  EXPECT_EQ(published.graph.clusters(), 3);
}

TEST(GraphBuilder, RefusesWhatDoesNotBelongTogether) {
  ThreadPool pool(1);
  const std::vector<int32_t> cluster_of{0, 1};
  EXPECT_THROW(GraphBuilder(cluster_of, 1, pool), InternalError);
  GraphBuilder builder(cluster_of, 2, pool);
  const Tensor scores = tensor_of<float>({1, 1}, {1});
  const Csr labels = csr_of(2, {{{0, 1}}});
  EXPECT_THROW(builder.add(labels, 0, tensor_of<int32_t>({1, 1}, {2}), scores), InternalError);
  EXPECT_THROW(builder.add(labels, 1, tensor_of<int32_t>({1, 1}, {0}), scores), InternalError);
  EXPECT_THROW(builder.add(csr_of(3, {{{2, 1}}}), 0, tensor_of<int32_t>({1, 1}, {0}), scores),
               InternalError);
}

TEST(GraphBuilderThread, SameBitsForAnyThreadsAndBatches) {
  const Csr labels = random_csr(3000, 9000, 6, 1000, 1);
  const Found found = random_found(3000, 64, 8, 1000, 2);
  const auto cluster_of = random_partition(9000, 64, 3);
  const GraphOptions options{.most_edges = 50, .kept_clusters = 2};
  ThreadPool one(1);
  const BuiltGraph expected = build(labels, found, cluster_of, 64, options, 3000, one);
  for (const int threads : {2, 3, 7}) {
    ThreadPool pool(threads);
    expect_equal(
        build(labels, found, cluster_of, 64, options, 100 * static_cast<size_t>(threads), pool),
        expected);
  }
}

TEST(ClusterMass, SumsInOrderOfArrivalHoweverOftenItMerges) {
  ThreadPool pool(2);
  for (const size_t fewest_waiting : {1, 2, 7, 100, 100000}) {
    ClusterMass mass(6, pool, fewest_waiting);
    std::map<std::pair<int32_t, int32_t>, double> expected;
    RandomSequence random(1, 5);
    for (int i = 0; i < 3000; ++i) {
      const auto cluster = static_cast<int32_t>(random.below(5));  // cluster 5 has nothing
      const auto label = static_cast<int32_t>(random.below(40));
      const auto value = static_cast<float>(random.uniform() * (i % 3 == 0 ? 1e6 : 1e-3));
      mass.add(cluster, label, value);
      expected[{cluster, label}] += value;
    }
    std::map<std::pair<int32_t, int32_t>, double> actual;
    const auto rows = mass.take();
    ASSERT_EQ(rows.size(), 6U);
    for (int32_t c = 0; c < 6; ++c) {
      ASSERT_EQ(rows[c].labels.size(), rows[c].sums.size());
      EXPECT_TRUE(std::is_sorted(rows[c].labels.begin(), rows[c].labels.end()));
      for (size_t i = 0; i < rows[c].labels.size(); ++i) {
        EXPECT_TRUE(actual.emplace(std::pair(c, rows[c].labels[i]), rows[c].sums[i]).second);
      }
    }
    EXPECT_TRUE(actual == expected) << fewest_waiting;
  }
}

TEST(InitialEdges, AreUniformOrFollowTheShares) {
  BuiltGraph built;
  built.shares.assign(20000, 0);
  for (size_t i = 0; i < built.shares.size(); i += 2) built.shares[i] = 0.75F;
  const auto uniform = initial_edges(built, false, 1);
  const auto informed = initial_edges(built, true, 1);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < uniform.size(); ++i) {
    ASSERT_GE(uniform[i], 0);
    ASSERT_LT(uniform[i], 1);
    ASSERT_FLOAT_EQ(informed[i], 0.2F * uniform[i] + 4 * built.shares[i]);
    sum += uniform[i];
    squares += uniform[i] * uniform[i];
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.01);
  EXPECT_NEAR(squares / 20000, 1.0 / 3, 0.01);
  EXPECT_EQ(initial_edges(built, false, 1), uniform);
  EXPECT_NE(initial_edges(built, false, 2), uniform);
}

}  // namespace
}  // namespace elias
