// From the two scores of a label, p of the search and the margin m of the ranker, to the one that
// labels are ranked by.
//
//   product   p * q                                          (ELIAS, section 3.5)
//   tree      (T(p, q, p * q, count) + p * q) / 2            (section D.2), T of a decision tree
//   learned   a probability: sigmoid of a sum of piecewise linear functions of log(p / (1 - p)), of
//             m, both rising, and of log(1 + count)
//
// where q is the ranker's score and count the training points of the label. Trees and functions are
// learned on held-out points. Only of the last the score means what it says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/thread_pool.h"
#include "ranker/decision_tree.h"
#include "ranker/dual_descent.h"
#include "ranker/monotone_logistic.h"

namespace elias {

enum class MixKind : uint8_t { kProduct, kTree, kLearned };
inline constexpr std::array<std::string_view, 3> kMixNames = {"product", "tree", "learned"};

/// What is known of a label that was found for a point.
struct FoundLabel {
  float p = 0;
  float margin = 0;
  uint64_t count = 0;
};

struct ScoreMix {
  static constexpr size_t kTreeInputs = 4, kLearnedInputs = 3;

  MixKind kind = MixKind::kProduct;
  RankerLoss loss = RankerLoss::kSquaredHinge;  // which q is of
  std::optional<DecisionTree> tree;             // of kTree
  MonotoneLogistic learned;                     // of kLearned

  /// In [0, 1], and never falling where p or the margin rises, but for a tree.
  float score(const FoundLabel& label) const;
};

/// Learns a mix from labels found for held-out points; `is_true` [n].
ScoreMix fit_mix(MixKind kind, RankerLoss loss, std::span<const FoundLabel> found,
                 std::span<const uint8_t> is_true, ThreadPool& pool);

/// Throws InputError, with the name of the file, if the mix is not one that score() can take.
void check_mix(const ScoreMix& mix, const std::string& name);

}  // namespace elias
