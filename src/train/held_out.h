// How good a model is on points it does not learn from, and the power of the shortlist score that
// suits it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "data/csr.h"
#include "metrics/evaluate.h"
#include "model/predictor.h"
#include "ops/context.h"
#include "train/network.h"
#include "train/settings.h"
#include "train/trainer.h"

namespace elias {

/// Of more held-out points, about this many are what a mix or a fusion is learned on: it has some
/// thirty numbers (sample_rows).
inline constexpr size_t kCalibrationPoints = 20'000;

class HeldOut {
 public:
  /// All must outlive the object.
  HeldOut(const Context& context, const Settings& settings, const TrainingData& data);

  bool any() const { return labels_.rows() > 0; }

  struct Result {
    Evaluation figures;
    SearchSettings search;

    /// What models are chosen by: nDCG@5.
    double score() const { return figures.find("nDCG@5").value_or(0); }
  };

  /// With `choose_gamma`, the power of the shortlist score that is best on the points, unless the
  /// settings have one; else kUsualGamma.
  Result evaluate(const PredictorWeights& weights, bool choose_gamma) const;

  /// What makes log odds of the scores of an embedding classifier: fitted to the best labels of a
  /// sample of held-out points, or of training points where none are held out, which promises too
  /// much. Where these say little, its slope is the one that the loss had.
  ScoreLine score_line(const PredictorWeights& weights, float slope_of_loss) const;

  /// How the model is searched where there is nothing to choose by.
  SearchSettings search_settings(const PredictorWeights& weights) const;

 private:
  float best_gamma(const PredictorWeights& weights) const;
  Evaluation evaluate_with(const PredictorWeights& weights, const SearchSettings& search,
                           const PointsView& points, const Csr& labels) const;

  const Context& context_;
  const Settings& settings_;
  PointsView points_;
  const Csr& labels_;
  Points sample_;  // the points that gamma is chosen on, and the line
  Csr sample_labels_;
};

}  // namespace elias
