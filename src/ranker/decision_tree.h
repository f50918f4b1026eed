// A small binary classification tree: the share of true labels among points that look alike.
//
// It mends the scores of the labels that a search found (ELIAS, section 3.5): a label's score gets
// the share of positives in the leaf that its features fall into. The tree is that of CART with the
// Gini impurity, and is fitted as scikit-learn's DecisionTreeClassifier(max_depth=5) would be, with
// one difference: of equally good splits by two features that of the lower feature is taken, where
// scikit-learn draws lots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elias {

struct TreeOptions {
  int max_depth = 5;  // 0: a single leaf
};

struct TreeNode {
  static constexpr int32_t kLeaf = -1;

  double threshold = 0;     // rows whose feature is not above it go left
  int32_t feature = kLeaf;  // of a leaf, only the value has a meaning
  int32_t left = 0;
  int32_t right = 0;
  float value = 0;  // share of positives of the rows that came here
};

class DecisionTree {
 public:
  /// `features` [N x width], none of them NaN; `targets` [N] of 0 or 1. Without rows the tree is a
  /// leaf of value 0.
  static DecisionTree fit(std::span<const float> features, size_t width,
                          std::span<const uint8_t> targets, const TreeOptions& options = {});

  /// A tree from a file, for rows of `width` features: an InputError if a walk down could leave the
  /// nodes or the row, or would not end, or if a value is not a share.
  DecisionTree(std::vector<TreeNode> nodes, size_t width);

  /// The share of positives of the leaf that `row` [width] falls into.
  float probability(std::span<const float> row) const;

  /// The root first, and each node before its children.
  std::span<const TreeNode> nodes() const { return nodes_; }

 private:
  std::vector<TreeNode> nodes_;
  size_t width_;
};

}  // namespace elias
