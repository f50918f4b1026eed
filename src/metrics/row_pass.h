// The pass over the rows behind evaluate(): private to the metrics layer.
//
// A row's hits are found once; ranking figures, F1, calibration and the table of labels are all
// taken from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/csr.h"
#include "data/label_deciles.h"
#include "metrics/calibration.h"
#include "metrics/evaluate.h"
#include "metrics/label_totals.h"
#include "metrics/ranked_hits.h"
#include "metrics/ranking_sums.h"

namespace elias {

/// What the pass reads: fixed before it starts, shared by all threads.
struct EvaluateSetting {
  const Csr& truth;
  const Csr& scores;
  const EvaluateOptions& options;
  const std::string& source;  // the name of the predictions
  float threshold;
  Discounts discounts;
  std::vector<uint64_t> counts;     // L training counts; empty without training data
  std::vector<double> weights;      // L inverse propensities; empty likewise
  std::vector<uint8_t> group_of;    // L; all 0 unless figures by group are asked for
  std::vector<uint64_t> positives;  // L true pairs
};

/// The sums of some rows.
struct EvaluateSums {
  explicit EvaluateSums(const EvaluateOptions& options)
      : ranking(options.groups ? 1 + LabelDeciles::kGroups : 1, RankingSums(options.cutoffs)),
        calibration(options.groups ? LabelDeciles::kGroups : 1) {}

  void add(const EvaluateSums& other) {
    for (size_t i = 0; i < ranking.size(); ++i) ranking[i].add(other.ranking[i]);
    for (size_t i = 0; i < calibration.size(); ++i) calibration[i].add(other.calibration[i]);
    probabilities = probabilities && other.probabilities;
    rows_without_predictions += other.rows_without_predictions;
    rows_all_unseen += other.rows_all_unseen;
  }

  std::vector<RankingSums> ranking;      // [0] all labels, [1 + g] those of group g
  std::vector<Calibration> calibration;  // [g]; of rows whose scores are all in [0, 1]
  bool probabilities = true;             // that is all rows
  uint64_t rows_without_predictions = 0;
  uint64_t rows_all_unseen = 0;
};

/// Adds rows to sums, with room to work in.
class RowPass {
 public:
  RowPass(const EvaluateSetting& setting, LabelTotals& labels, EvaluateSums& sums)
      : setting_(setting), labels_(labels), sums_(sums) {}

  void add_rows(size_t begin, size_t end);

 private:
  struct Positive {
    uint8_t group;
    double weight;
  };

  void add_row(size_t row);
  [[noreturn]] void refuse(size_t row, const CsrRow& scores) const;
  void add_pairs(const CsrRow& scores);
  void add_predicted(const CsrRow& scores);
  void add_ranking(const CsrRow& truth);
  template <typename In>
  void add_part(size_t slot, In in);

  const EvaluateSetting& setting_;
  LabelTotals& labels_;
  EvaluateSums& sums_;
  LabelTotals::Batch batch_;
  std::vector<Hit> hits_, part_hits_;
  std::vector<Positive> positives_;  // by weight descending
  std::vector<double> part_weights_, part_hit_weights_;
  std::vector<uint32_t> selected_;
};

}  // namespace elias
