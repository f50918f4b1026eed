// Predictions and truth in, figures out. docs/metrics.md defines each figure, with its edge cases.
//
// One pass over the rows on all threads. Sums are taken per chunk of rows and added up in chunk
// order, so the figures have the same bits at any number of threads. None is ever NaN: 0/0 is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "data/label_deciles.h"
#include "metrics/calibration.h"
#include "metrics/propensity.h"
#include "metrics/ranking_sums.h"

namespace elias {

/// What is known of the training data; without it there are no propensities and no deciles.
struct Training {
  uint64_t points = 0;
  std::vector<uint64_t> counts;  // L: points of each label
  Propensity propensity;
};

struct EvaluateOptions {
  Cutoffs cutoffs{};
  /// Pairs with at least this score count as predicted in F1. Empty: 0.5 if all scores are in
  /// [0, 1], and no F1 otherwise.
  std::optional<float> threshold{};
  /// Of each label, in the place of the one above: at least as many as scores have columns, or
  /// none.
  std::span<const float> label_thresholds{};
  bool groups = false;  // figures by decile too; needs Training
  bool labels = false;  // figures by label too
};

/// One figure, as a share (0.5 is 50 %).
struct Metric {
  std::string name;  // "P@1", "micro-F1"
  double value = 0;
  bool lower_is_better = false;
};

/// The figures of the labels of one group (LabelDeciles).
struct GroupFigures {
  uint64_t labels = 0;     // with at least one true pair
  uint64_t positives = 0;  // true pairs
  uint64_t rows = 0;       // rows with at least one of them
  std::vector<Metric> metrics;
};

/// One label: its true pairs, and the lists cut at the largest k of Cutoffs::k.
struct LabelFigures {
  uint64_t positives = 0;
  uint64_t predicted = 0, hits = 0;                            // in the first k of the lists
  uint64_t predicted_at_threshold = 0, hits_at_threshold = 0;  // with a score from the threshold on
  double precision() const;
  double recall() const;
  double f1() const;
  double f1_at_threshold() const;
};

struct Evaluation {
  uint64_t rows = 0;
  uint64_t rows_without_positives = 0;
  uint64_t rows_without_predictions = 0;
  uint64_t rows_all_unseen = 0;  // with true labels, all of them without a training point
  uint64_t positives = 0;        // true pairs
  uint64_t unseen_positives = 0;
  uint64_t predictions = 0;        // predicted pairs
  uint64_t labels = 0;             // with at least one true pair
  bool probabilities = false;      // all scores are in [0, 1]
  std::optional<float> threshold;  // the one F1 was taken at
  bool label_thresholds = false;   // or those of the labels

  std::vector<Metric> metrics;       // only those that could be computed
  std::vector<GroupFigures> groups;  // by LabelDeciles group; empty unless asked for
  std::vector<LabelFigures> by_label;
  Calibration calibration;

  /// Empty if there is no figure of that name.
  std::optional<double> find(std::string_view name) const;
};

/// `truth` is N x L, relevances above zero are true; `scores` N x L, every stored entry is a
/// prediction. `training` may be null. Throws InputError on a score that is not finite, with
/// `source`, the name of the predictions.
Evaluation evaluate(const Csr& truth, const Csr& scores, const Training* training,
                    const EvaluateOptions& options, ThreadPool& pool,
                    const std::string& source = "predictions");

}  // namespace elias
