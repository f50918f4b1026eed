// The rows are sorted by each feature once. A node is a range of places, which holds the same rows
// in the order of every feature; a split parts the range of each without changing the order within
// the parts, so that a level of the tree costs a few passes over the rows.
#include "ranker/decision_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/errors.h"

namespace elias {
namespace {

// Neighbouring values no further apart are not split between.
constexpr float kLeastGap = 1e-7F;

// A tree has fewer than twice as many nodes, and their indices are int32_t.
constexpr size_t kMostRows = size_t{1} << 30;

// A row's value of the feature at hand.
struct Entry {
  float value = 0;
  uint32_t row = 0;
};

struct Range {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
};

struct Split {
  int32_t feature = TreeNode::kLeaf;  // that is, none
  double threshold = 0;
  double impurity = std::numeric_limits<double>::infinity();  // left and right together
};

// Gini impurity times the number of rows. Nearly equal splits are told apart by rounding errors:
// with other arithmetic, even if it were more exact, the tree is not that of scikit-learn.
double impurity_of(size_t positives, size_t rows) {
  const auto n = static_cast<double>(rows), ones = static_cast<double>(positives);
  const double zeros = n - ones;
  return n * (1 - (ones * ones + zeros * zeros) / (n * n));
}

// A double lies between any two different floats, unless one of them is infinite.
double threshold_between(float low, float high) {
  const double middle = double{low} / 2 + double{high} / 2;
  return std::isfinite(middle) ? middle : double{low};
}

class TreeGrower {
 public:
  TreeGrower(std::span<const float> features, size_t width, std::span<const uint8_t> targets,
             int max_depth);

  std::vector<TreeNode> grow() {
    grow(Range{0, targets_.size()}, 0);
    return std::move(nodes_);
  }

 private:
  float value(uint32_t row, size_t feature) const { return features_[row * width_ + feature]; }
  std::span<Entry> sorted(size_t feature, Range range) {
    return std::span(sorted_[feature]).subspan(range.begin, range.size());
  }
  int32_t grow(Range range, int depth);
  size_t count_positives(Range range);
  Split best_split(Range range, size_t positives);
  std::pair<Range, Range> part(Range range, const Split& split);

  std::span<const float> features_;  // [N x width]
  size_t width_;
  std::span<const uint8_t> targets_;  // [N]
  int max_depth_;
  std::vector<std::vector<Entry>> sorted_;  // [width][N]; by rising value within a node's range
  std::vector<TreeNode> nodes_;
};

TreeGrower::TreeGrower(std::span<const float> features, size_t width,
                       std::span<const uint8_t> targets, int max_depth)
    : features_(features),
      width_(width),
      targets_(targets),
      max_depth_(max_depth),
      sorted_(width, std::vector<Entry>(targets.size())) {
  for (size_t feature = 0; feature < width; ++feature) {
    for (uint32_t row = 0; row < targets.size(); ++row) {
      sorted_[feature][row] = {value(row, feature), row};
    }
    std::ranges::sort(sorted_[feature], {}, &Entry::value);
  }
}

// Grows the node of these rows and all below it, and returns its index.
int32_t TreeGrower::grow(Range range, int depth) {
  const size_t positives = count_positives(range);
  const auto index = static_cast<int32_t>(nodes_.size());
  TreeNode& leaf = nodes_.emplace_back();
  if (positives == 0) return index;
  leaf.value =
      static_cast<float>(static_cast<double>(positives) / static_cast<double>(range.size()));
  if (positives == range.size() || depth == max_depth_) return index;
  const Split split = best_split(range, positives);
  if (split.feature == TreeNode::kLeaf) return index;

  const auto [left_rows, right_rows] = part(range, split);
  const int32_t left = grow(left_rows, depth + 1);
  const int32_t right = grow(right_rows, depth + 1);
  TreeNode& node = nodes_[index];
  node.feature = split.feature;
  node.threshold = split.threshold;
  node.left = left;
  node.right = right;
  return index;
}

size_t TreeGrower::count_positives(Range range) {
  size_t positives = 0;
  for (const Entry& entry : sorted(0, range)) positives += targets_[entry.row];
  return positives;
}

// The first of the best ones, by rising feature and then by rising threshold. A split that makes
// nothing purer counts too: the next one may.
Split TreeGrower::best_split(Range range, size_t positives) {
  Split best;
  for (size_t feature = 0; feature < width_; ++feature) {
    const std::span<const Entry> entries = sorted(feature, range);
    size_t left_positives = 0;
    for (size_t left = 1; left < entries.size(); ++left) {
      const Entry &low = entries[left - 1], &high = entries[left];
      left_positives += targets_[low.row];
      if (high.value <= low.value + kLeastGap) continue;
      const double impurity = impurity_of(left_positives, left) +
                              impurity_of(positives - left_positives, entries.size() - left);
      if (impurity >= best.impurity) continue;
      best = {static_cast<int32_t>(feature), threshold_between(low.value, high.value), impurity};
    }
  }
  return best;
}

std::pair<Range, Range> TreeGrower::part(Range range, const Split& split) {
  const auto goes_left = [&](const Entry& entry) {
    return value(entry.row, static_cast<size_t>(split.feature)) <= split.threshold;
  };
  size_t left = 0;
  for (size_t feature = 0; feature < width_; ++feature) {
    const std::span<Entry> entries = sorted(feature, range);
    const auto right = std::stable_partition(entries.begin(), entries.end(), goes_left);
    left = static_cast<size_t>(right - entries.begin());
  }
  return {{range.begin, range.begin + left}, {range.begin + left, range.end}};
}

void check_node(const TreeNode& node, int64_t index, int64_t nodes, int64_t width) {
  if (!(node.value >= 0 && node.value <= 1)) {
    throw InputError("the tree: node {} has the value {}, which is not in [0, 1]", index,
                     node.value);
  }
  if (node.feature == TreeNode::kLeaf) return;
  if (node.feature < 0 || node.feature >= width) {
    throw InputError("the tree: node {} asks for feature {} of {}", index, node.feature, width);
  }
  for (const int32_t child : {node.left, node.right}) {
    if (child <= index || child >= nodes) {
      throw InputError("the tree: node {} of {} has the child {}: children come after their parent",
                       index, nodes, child);
    }
  }
}

}  // namespace

DecisionTree DecisionTree::fit(std::span<const float> features, size_t width,
                               std::span<const uint8_t> targets, const TreeOptions& options) {
  ELIAS_ASSERT(width > 0 && options.max_depth >= 0);
  ELIAS_ASSERT(targets.size() <= kMostRows);
  ELIAS_ASSERT(features.size() == targets.size() * width);
  ELIAS_ASSERT(std::ranges::none_of(features, [](float value) { return std::isnan(value); }));
  ELIAS_ASSERT(std::ranges::all_of(targets, [](uint8_t target) { return target <= 1; }));
  return {TreeGrower(features, width, targets, options.max_depth).grow(), width};
}

DecisionTree::DecisionTree(std::vector<TreeNode> nodes, size_t width)
    : nodes_(std::move(nodes)), width_(width) {
  if (nodes_.empty()) throw InputError("the tree: has no nodes");
  const auto count = static_cast<int64_t>(nodes_.size());
  for (int64_t i = 0; i < count; ++i) {
    check_node(nodes_[i], i, count, static_cast<int64_t>(width));
  }
}

float DecisionTree::probability(std::span<const float> row) const {
  ELIAS_ASSERT(row.size() == width_);
  const TreeNode* node = nodes_.data();
  while (node->feature != TreeNode::kLeaf) {
    node = &nodes_[row[node->feature] <= node->threshold ? node->left : node->right];
  }
  return node->value;
}

}  // namespace elias
