#include "ranker/decision_tree.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>

#include "base/errors.h"
#include "base/random.h"

namespace elias {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Rows {
  size_t width = 1;
  std::vector<float> features{};  // [N x width]
  std::vector<uint8_t> targets{};

  size_t size() const { return targets.size(); }
  std::span<const float> row(size_t i) const {
    return std::span(features).subspan(i * width, width);
  }
};

DecisionTree fitted(const Rows& rows, int max_depth = 5) {
  return DecisionTree::fit(rows.features, rows.width, rows.targets, {.max_depth = max_depth});
}

/// With few steps there are many equal values and many equal rows.
Rows random_rows(size_t count, size_t width, uint64_t steps, uint64_t seed) {
  Rows rows{.width = width};
  RandomSequence random(seed, 1);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < width; ++j) {
      rows.features.push_back(static_cast<float>(random.below(steps)) / 8);
    }
    rows.targets.push_back(static_cast<uint8_t>(random.below(2)));
  }
  return rows;
}

double gini(const Rows& rows, const std::vector<size_t>& node) {
  double ones = 0;
  for (const size_t i : node) ones += rows.targets[i];
  const auto n = static_cast<double>(node.size());
  return 1 - (ones * ones + (n - ones) * (n - ones)) / (n * n);
}

/// The twin: tries every threshold of every feature, and counts all rows anew for each.
float naive_probability(const Rows& rows, const std::vector<size_t>& node, int depth,
                        std::span<const float> asked) {
  double least = kInfinity;
  std::vector<size_t> next;  // the rows of the side that the row asked for is on
  for (size_t feature = 0; feature < rows.width && depth > 0 && gini(rows, node) > 0; ++feature) {
    std::set<float> values;
    for (const size_t i : node) values.insert(rows.row(i)[feature]);
    for (auto low = values.begin(); low != values.end() && std::next(low) != values.end(); ++low) {
      const float threshold = (*low + *std::next(low)) / 2;
      std::vector<size_t> left, right;
      for (const size_t i : node) (rows.row(i)[feature] <= threshold ? left : right).push_back(i);
      const double impurity = static_cast<double>(left.size()) * gini(rows, left) +
                              static_cast<double>(right.size()) * gini(rows, right);
      if (impurity >= least) continue;
      least = impurity;
      next = asked[feature] <= threshold ? left : right;
    }
  }
  if (least < kInfinity) return naive_probability(rows, next, depth - 1, asked);
  const auto ones = std::ranges::count_if(node, [&](size_t i) { return rows.targets[i] != 0; });
  return static_cast<float>(ones) / static_cast<float>(node.size());
}

TEST(DecisionTreeTest, HasTheProbabilitiesOfScikitLearn) {
  std::ifstream file(ELIAS_TEST_DATA "/decision_tree_fixture.txt");  // by make_tree_fixture.py
  size_t fitted_count = 0;
  ASSERT_TRUE(file >> fitted_count);
  Rows all{.width = 4};
  std::vector<float> expected;
  float p = 0, q = 0, product = 0, frequency = 0, probability = 0;
  int target = 0;
  while (file >> p >> q >> product >> frequency >> target >> probability) {
    all.features.insert(all.features.end(), {p, q, product, frequency});
    all.targets.push_back(static_cast<uint8_t>(target));
    expected.push_back(probability);
  }
  ASSERT_EQ(all.size(), 400u);
  const DecisionTree tree =
      DecisionTree::fit(std::span(all.features).first(fitted_count * all.width), all.width,
                        std::span(all.targets).first(fitted_count));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(tree.probability(all.row(i)), expected[i], 1e-6) << "row " << i;
  }
}

TEST(DecisionTreeTest, IsTheTreeOfTheNaiveTwin) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Rows rows = random_rows(1 + seed % 29, 1 + seed % 3, 2 + seed % 13, seed);
    const Rows other = random_rows(20, rows.width, 20, seed + 1000);
    std::vector<size_t> all(rows.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    for (const int depth : {0, 1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", depth " << depth);
      const DecisionTree tree = fitted(rows, depth);
      for (const Rows* asked : {&rows, &other}) {
        for (size_t i = 0; i < asked->size(); ++i) {
          EXPECT_EQ(tree.probability(asked->row(i)),
                    naive_probability(rows, all, depth, asked->row(i)));
        }
      }
    }
  }
}

TEST(DecisionTreeTest, IsALeafWhereThereIsNothingToSplit) {
  const auto leaf_value = [](const Rows& rows, int max_depth = 5) {
    const DecisionTree tree = fitted(rows, max_depth);
    EXPECT_EQ(tree.nodes().size(), 1u);
    return tree.nodes()[0].value;
  };
  EXPECT_EQ(leaf_value({.width = 3}), 0);
  EXPECT_EQ(leaf_value({.features = {7}, .targets = {1}}), 1);
  EXPECT_EQ(leaf_value({.features = {1, 2, 3}, .targets = {1, 1, 1}}), 1);
  EXPECT_EQ(leaf_value({.features = {1, 2, 3}, .targets = {0, 0, 0}}), 0);
  EXPECT_EQ(leaf_value({.width = 2, .features = {1, 5, 1, 5}, .targets = {0, 1}}), 0.5F);
  EXPECT_EQ(leaf_value({.features = {0, 1, 2, 3}, .targets = {0, 1, 0, 0}}, 0), 0.25F);
}

TEST(DecisionTreeTest, SplitsHalfwayAndSendsTheThresholdLeft) {
  const DecisionTree tree = fitted({.features = {4, 1, 2, 9}, .targets = {1, 0, 0, 1}}, 1);
  ASSERT_EQ(tree.nodes().size(), 3u);
  EXPECT_EQ(tree.nodes()[0].threshold, 3);
  EXPECT_EQ(tree.nodes()[0].value, 0.5F);
  EXPECT_EQ(tree.probability(std::vector{3.0F}), 0);
  EXPECT_EQ(tree.probability(std::vector{3.1F}), 1);
}

TEST(DecisionTreeTest, TakesTheFirstOfEqualFeaturesAndThresholds) {
  const Rows rows{.width = 2, .features = {5, 5, 6, 6, 7, 7}, .targets = {0, 1, 0}};
  const DecisionTree tree = fitted(rows, 1);
  EXPECT_EQ(tree.nodes()[0].feature, 0);
  EXPECT_EQ(tree.nodes()[0].threshold, 5.5);
}

TEST(DecisionTreeTest, SplitsWhereOnlyTheNextSplitMakesItPurer) {
  const Rows rows{.width = 2, .features = {0, 0, 0, 1, 1, 0, 1, 1}, .targets = {0, 1, 1, 0}};
  const DecisionTree tree = fitted(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(tree.probability(rows.row(i)), rows.targets[i]);
  }
}

TEST(DecisionTreeTest, DoesNotSplitBetweenNearlyEqualValues) {
  EXPECT_EQ(fitted({.features = {0, 0.9e-7F}, .targets = {0, 1}}).nodes().size(), 1u);
  EXPECT_EQ(fitted({.features = {0, 1.1e-7F}, .targets = {0, 1}}).nodes().size(), 3u);
}

TEST(DecisionTreeTest, TakesInfinitiesButNotNaN) {
  constexpr float kFar = std::numeric_limits<float>::infinity();
  for (const auto& [low, high] : {std::pair(-kFar, kFar), {-kFar, 1.0F}, {1.0F, kFar}}) {
    const DecisionTree tree = fitted({.features = {low, high}, .targets = {0, 1}});
    EXPECT_EQ(tree.probability(std::vector{low}), 0);
    EXPECT_EQ(tree.probability(std::vector{high}), 1);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(fitted({.features = {1, nan}, .targets = {0, 1}}), InternalError);
}

TEST(DecisionTreeTest, IsTheSameFromItsNodes) {
  const Rows rows = random_rows(200, 3, 50, 7);
  const DecisionTree tree = fitted(rows);
  const DecisionTree copy({tree.nodes().begin(), tree.nodes().end()}, rows.width);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(copy.probability(rows.row(i)), tree.probability(rows.row(i)));
  }
}

TEST(DecisionTreeTest, RefusesNodesThatAreNoTree) {
  const std::vector<TreeNode> good{{.feature = 1, .left = 1, .right = 2}, {}, {.value = 1}};
  EXPECT_NO_THROW(DecisionTree(good, 2));
  const auto error = [](std::vector<TreeNode> nodes, size_t width = 2) -> std::string {
    try {
      const DecisionTree tree(std::move(nodes), width);
    } catch (const InputError& refusal) {
      return refusal.what();
    }
    return "none";
  };
  const auto error_with_root = [&](TreeNode root) {
    std::vector<TreeNode> nodes = good;
    nodes[0] = root;
    return error(nodes);
  };
  EXPECT_EQ(error({}), "the tree: has no nodes");
  EXPECT_EQ(error(good, 1), "the tree: node 0 asks for feature 1 of 1");
  EXPECT_THAT(error_with_root({.feature = -2, .left = 1, .right = 2}), HasSubstr("feature -2"));
  EXPECT_EQ(error_with_root({.feature = 0, .left = 1, .right = 3}),
            "the tree: node 0 of 3 has the child 3: children come after their parent");
  EXPECT_THAT(error_with_root({.feature = 0, .left = -1, .right = 2}), HasSubstr("the child -1"));
  EXPECT_THAT(error_with_root({.feature = 0, .left = 0, .right = 2}), HasSubstr("the child 0"));
  EXPECT_THAT(error_with_root({.value = 1.5F}), HasSubstr("the value 1.5"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_with_root({.value = nan}), HasSubstr("the value nan"));
}

}  // namespace
}  // namespace elias
