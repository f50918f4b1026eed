// From which score on does a label count as predicted? Thresholds are chosen on points that
// training has not seen: for the most F1, or for a precision or recall that is wanted.
//
// A threshold t stands for the pairs (point, label) with a score >= t, among the kDepth best labels
// of each point. A label with enough true pairs may have its own, chosen on its pairs alone; the
// common one of the others is chosen so that all predicted pairs together serve the goal. If that
// is
//   F1         it is the t with the largest F1, of equal ones the highest;
//   precision  the lowest t whose pairs are true often enough: no other keeps more of them;
//   recall     the highest t whose pairs hold enough of the true ones.
// A threshold lies halfway between the lowest score that it keeps and the next one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/csr.h"

namespace elias {

enum class ThresholdAim : uint8_t { kF1, kPrecision, kRecall };
inline constexpr std::array<std::string_view, 3> kThresholdAimNames = {"f1", "precision", "recall"};

struct ThresholdGoal {
  ThresholdAim aim = ThresholdAim::kF1;
  double share = 0;  // the precision or recall that is wanted, in (0, 1]
};

struct Thresholds {
  static constexpr int64_t kDepth = 100;  // labels a point that are looked at

  ThresholdGoal goal;
  float common = 0;             // of all labels without one of their own
  uint64_t own = 0;             // labels that have one
  std::vector<float> by_label;  // [L]; empty if no label has one

  float of(uint32_t label) const { return by_label.empty() ? common : by_label[label]; }
};

/// Removes the pairs whose score is below their label's threshold.
void keep_predicted(const Thresholds& thresholds, Csr& scores);

/// How good predictions at thresholds are.
struct ThresholdFigures {
  uint64_t rows = 0;
  uint64_t predicted = 0, hits = 0, positives = 0;  // pairs; of the true ones those of all labels
  double macro_f1 = 0;                              // over the labels with a true pair

  double precision() const;
  double recall() const;
  double f1() const;
  double labels_per_point() const;
};

class ThresholdSearch {
 public:
  /// Parts of the points by which a choice is tested: row i is in part i mod kParts.
  static constexpr size_t kParts = 5;

  struct Options {
    ThresholdGoal goal;
    /// Labels with so many true pairs get a threshold of their own; none: no label does. One that
    /// cannot reach the goal has the common threshold.
    std::optional<uint64_t> least_own;
  };

  /// `truth` is N x at least L, relevances above zero are true; `scores` N x L, finite.
  ThresholdSearch(const Csr& truth, const Csr& scores);

  /// By all points, or by those that are not in the part `without`. Empty if no common threshold
  /// reaches the goal.
  std::optional<Thresholds> find(const Options& options, std::optional<size_t> without = {}) const;

  /// On all points.
  ThresholdFigures figures(const Thresholds& thresholds) const;

  /// On points that had no say: those of each part by the thresholds of the others. Empty if one of
  /// these cannot reach the goal, or there are fewer points than parts.
  std::optional<ThresholdFigures> tested_figures(const Options& options) const;

  /// True pairs of all points but those in the part `without`.
  uint64_t all_positives(std::optional<size_t> without = {}) const;
  /// Of these, the pairs of labels that are never predicted: those from L on.
  uint64_t unknown_positives() const;
  /// The best precision of any common threshold.
  double most_precision() const;
  /// The recall of all pairs, whatever their score.
  double most_recall() const;

 private:
  struct Pair {
    float score;
    uint32_t label;
    uint8_t part;
    bool hit;
  };
  struct LabelCounts {
    uint64_t predicted = 0, hits = 0;
  };

  void add_row(const CsrRow& truth, const CsrRow& scores, uint8_t part);
  std::span<const Pair> pairs_of(uint32_t label) const;
  uint64_t positives(uint32_t label, std::optional<size_t> without = {}) const;
  std::optional<Thresholds> find_by_label(const Options& options,
                                          std::optional<size_t> without) const;
  void count(const Thresholds& thresholds, std::optional<size_t> part,
             std::vector<LabelCounts>& counts) const;
  ThresholdFigures sum_up(const std::vector<LabelCounts>& counts) const;

  uint64_t rows_ = 0, labels_ = 0;  // N, L
  std::vector<Pair> by_score_;      // all pairs, best first
  std::vector<Pair> by_label_;      // label by label, best first
  std::vector<uint64_t> offsets_;   // [L + 1] of by_label_
  /// [parts][L] true pairs, and [parts] those of labels from L on, which are never predicted.
  std::array<std::vector<uint32_t>, kParts> positives_;
  std::array<uint64_t, kParts> unknown_positives_{};
  uint64_t unknown_labels_ = 0;  // with a true pair
};

}  // namespace elias
