#include "index/search.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "tests/index/graphs.h"
#include "tests/index/search_reference.h"

namespace elias {
namespace {

using testing::ElementsAre;

struct Found {
  std::vector<int32_t> labels;
  std::vector<float> scores;
  std::vector<int32_t> edges, slots;

  bool operator==(const Found&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << testing::PrintToString(found.labels) << " " << testing::PrintToString(found.scores)
             << " " << testing::PrintToString(found.edges) << " "
             << testing::PrintToString(found.slots);
}

Found take(LabelSearch& search, size_t K, const std::vector<uint8_t>& allowed = {}) {
  Found found{.labels = std::vector<int32_t>(K),
              .scores = std::vector<float>(K),
              .edges = std::vector<int32_t>(K),
              .slots = std::vector<int32_t>(K)};
  const size_t size = search.shortlist(
      {.labels = found.labels, .scores = found.scores, .edges = found.edges, .slots = found.slots},
      allowed);
  EXPECT_LE(size, K);
  found.labels.resize(size);
  found.scores.resize(size);
  found.edges.resize(size);
  found.slots.resize(size);
  return found;
}

Found expected(const std::map<int32_t, reference::Path>& best, size_t K) {
  Found found;
  for (const int32_t label : reference::shortlist(best, K)) {
    const reference::Path& path = best.at(label);
    found.labels.push_back(label);
    found.scores.push_back(path.score);
    found.edges.push_back(path.edge);
    found.slots.push_back(path.slot);
  }
  return found;
}

// All that one exploration says, for shortlists shorter and longer than what was found.
void expect_as_reference(LabelSearch& search, const LabelGraphView& graph,
                         const std::vector<int32_t>& clusters, const std::vector<float>& scores,
                         const std::vector<size_t>& lengths) {
  const auto best = reference::explore(graph, clusters, scores);
  search.explore(graph, clusters, scores);
  for (int32_t label = 0; label < graph.label_count; ++label) {
    const auto path = best.find(label);
    ASSERT_EQ(search.score(label), path == best.end() ? 0 : path->second.score);
    if (path == best.end()) continue;
    ASSERT_EQ(search.path(label).edge, path->second.edge);
    ASSERT_EQ(search.path(label).slot, path->second.slot);
  }
  for (const size_t K : lengths) ASSERT_EQ(take(search, K), expected(best, K)) << "K=" << K;
}

std::vector<size_t> lengths_around(size_t found) {
  std::vector<size_t> lengths = {0, 1, found / 2, found, found + 1, found + 100};
  if (found > 0) lengths.push_back(found - 1);
  return lengths;
}

class LabelSearchTest : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, LabelSearchTest, testing::ValuesIn(supported_isas()));

// Two clusters over three labels: every set of edges, every combination of these scores.
TEST_P(LabelSearchTest, AllSmallGraphs) {
  constexpr float kAbsent = -1;
  constexpr float kEdgeScores[] = {kAbsent, 0, 0.5F, 1};
  constexpr std::pair<float, float> kClusterScores[] = {{1, 1}, {0.5F, 1}, {1, 0}};
  LabelSearch search(3, GetParam());
  for (int code = 0; code < 4096; ++code) {
    ScoredGraph own;
    own.graph.label_count = 3;
    for (int place = 0, rest = code; place < 6; ++place, rest /= 4) {
      if (kEdgeScores[rest % 4] != kAbsent) {
        own.graph.labels.push_back(place % 3);
        own.scores.push_back(kEdgeScores[rest % 4]);
      }
      if (place % 3 == 2) own.graph.offsets.push_back(own.graph.edges());
    }
    for (const auto& [first, second] : kClusterScores) {
      for (const int32_t cluster : {0, 1}) {
        expect_as_reference(search, own.view(), {cluster, 1 - cluster}, {first, second}, {1, 2, 4});
        if (HasFatalFailure()) FAIL() << "code=" << code;
      }
    }
  }
}

// Few distinct scores, so most are equal; one search for all explorations of a size.
TEST_P(LabelSearchTest, ManyEqualScores) {
  for (const int64_t L : {1, 7, 100, 2000}) {
    LabelSearch search(L, GetParam());
    for (uint64_t seed = 0; seed < 24; ++seed) {
      // From rows that hold next to nothing (the sorted way of writing) to full ones (the scan).
      const double density = std::pow(10.0, -static_cast<double>(seed % 4));
      const auto steps = static_cast<double>(1 + seed % 3);
      const ScoredGraph own = random_graph(6, L, density, seed, [&](double uniform) {
        return static_cast<float>(std::floor(uniform * (steps + 1)) / steps);
      });
      const std::vector<int32_t> clusters = {4, 0, 5, 2};
      const std::vector<float> scores = {0.5F, 1, 0.5F, seed % 2 == 0 ? 0.0F : 1.0F};
      const size_t found = reference::explore(own.view(), clusters, scores).size();
      expect_as_reference(search, own.view(), clusters, scores, lengths_around(found));
      if (HasFatalFailure()) FAIL() << "L=" << L << " seed=" << seed;
    }
  }
}

// Scores over the whole range of floats, and others that differ in their last bits alone.
TEST_P(LabelSearchTest, FineAndTinyScores) {
  const int64_t L = 2000;
  LabelSearch search(L, GetParam());
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const bool close = seed % 2 == 0;
    const ScoredGraph own =
        random_graph(5, L, seed % 4 < 2 ? 0.3 : 0.003, seed, [&](double uniform) {
          return close ? 0.75F + 0x1p-24F * static_cast<float>(std::floor(uniform * 64))
                       : static_cast<float>(std::pow(10.0, -50 * uniform));
        });
    const std::vector<int32_t> clusters = {1, 3, 0};
    const std::vector<float> scores = {1, close ? 1 : 0.3F, 1e-3F};
    const size_t found = reference::explore(own.view(), clusters, scores).size();
    expect_as_reference(search, own.view(), clusters, scores, lengths_around(found));
    if (HasFatalFailure()) FAIL() << "seed=" << seed;
  }
}

// Five labels at the cut of which there is room for some: the lowest stay, whatever order clusters
// reached them in.
TEST_P(LabelSearchTest, OfEqualLabelsAtTheCutTheLowestStay) {
  for (const int64_t L : {20, 2000}) {
    ScoredGraph own;
    own.graph = {.label_count = L, .offsets = {0, 4, 7}, .labels = {3, 6, 8, 9, 0, 5, 7}};
    own.scores = {0.5F, 1, 0.5F, 0.5F, 0.5F, 0.25F, 0.5F};
    LabelSearch search(L, GetParam());
    const std::vector<int32_t> clusters = {0, 1};
    const std::vector<float> scores = {1, 1};
    search.explore(own.view(), clusters, scores);
    EXPECT_THAT(take(search, 1).labels, ElementsAre(6));
    EXPECT_THAT(take(search, 3).labels, ElementsAre(0, 3, 6));
    EXPECT_THAT(take(search, 5).labels, ElementsAre(0, 3, 6, 7, 8));
    EXPECT_THAT(take(search, 7).labels, ElementsAre(0, 3, 5, 6, 7, 8, 9));
  }
}

TEST_P(LabelSearchTest, LabelsThatAreNotAllowedAreLeftOut) {
  for (const double density : {0.5, 0.005}) {
    const int64_t L = 2000;
    const ScoredGraph own = random_graph(4, L, density, 1, [](double uniform) {
      return static_cast<float>(std::ceil(uniform * 8) / 8);
    });
    const std::vector<int32_t> clusters = {0, 1, 2, 3};
    const std::vector<float> scores = {1, 0.5F, 1, 1};
    auto best = reference::explore(own.view(), clusters, scores);
    LabelSearch search(L, GetParam());
    search.explore(own.view(), clusters, scores);
    std::vector<uint8_t> allowed(static_cast<size_t>(L), 1);
    for (const size_t K : {best.size() / 2, best.size() / 4}) {
      const auto some_of_the_best = reference::shortlist(best, 5);
      for (const int32_t label : some_of_the_best) {
        best.erase(label);
        allowed[label] = 0;
      }
      ASSERT_EQ(take(search, K, allowed), expected(best, K));
      for (const int32_t label : some_of_the_best) EXPECT_EQ(search.score(label), 0);
    }
    // They are forgotten for good, until the next exploration.
    ASSERT_EQ(take(search, static_cast<size_t>(L)), expected(best, static_cast<size_t>(L)));
    EXPECT_TRUE(take(search, 3, std::vector<uint8_t>(static_cast<size_t>(L))).labels.empty());
    expect_as_reference(search, own.view(), {2, 1}, {0.25F, 1}, {3, 1000});  // all is back
  }
}

TEST_P(LabelSearchTest, PathsNeedNotBeWritten) {
  ScoredGraph own;
  own.graph = {.label_count = 4, .offsets = {0, 3}, .labels = {0, 2, 3}};
  own.scores = {0.25F, 1, 0.5F};
  LabelSearch search(4, GetParam());
  search.explore(own.view(), std::vector<int32_t>{0}, std::vector<float>{0.5F});
  std::vector<int32_t> labels(2);
  std::vector<float> scores(2);
  ASSERT_EQ(search.shortlist({.labels = labels, .scores = scores, .edges = {}, .slots = {}}), 2);
  EXPECT_THAT(labels, ElementsAre(2, 3));
  EXPECT_THAT(scores, ElementsAre(0.5F, 0.25F));
}

TEST_P(LabelSearchTest, NothingToExplore) {
  const ScoredGraph own = random_graph(3, 10, 1, 1, [](double) { return 1.0F; });
  LabelSearch search(10, GetParam());
  expect_as_reference(search, own.view(), {0}, {1}, {4, 20});
  expect_as_reference(search, own.view(), {}, {}, {0, 4});
  expect_as_reference(search, own.view(), {1, 2}, {0, 0}, {0, 4});
}

}  // namespace
}  // namespace elias
