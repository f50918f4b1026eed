#include "train/held_out.h"

#include <algorithm>
#include <array>

#include "ranker/log_odds.h"
#include "ranker/monotone_logistic.h"

namespace elias {
namespace {

// Powers of the shortlist score that are tried, and the number of points they are tried on.
constexpr std::array<float, 5> kGammas = {0, 0.125F, 0.25F, 0.5F, 1};
constexpr size_t kSampleSize = 2000;
constexpr float kUsualGamma = 0.25F;

}  // namespace

HeldOut::HeldOut(const Context& context, const Settings& settings, const TrainingData& data)
    : context_(context),
      settings_(settings),
      points_(data.held_out()),
      labels_(data.held_out_labels),
      sample_(sample_rows(any() ? points_ : data.points(), kSampleSize)),
      sample_labels_(sample_rows(any() ? labels_ : data.labels, kSampleSize)) {}

// A model of few labels has fewer clusters than the beam, or labels than the shortlist.
SearchSettings HeldOut::search_settings(const PredictorWeights& weights) const {
  return {.alpha = settings_.alpha,
          .beam = std::min(settings_.beam, settings_.clusters),
          .shortlist = std::min(settings_.shortlist, weights.label_weights.rows()),
          .gamma = settings_.gamma < 0 ? kUsualGamma : settings_.gamma};
}

Evaluation HeldOut::evaluate_with(const PredictorWeights& weights, const SearchSettings& search,
                                  const PointsView& points, const Csr& labels) const {
  constexpr int64_t kDeepest = 100;
  const Predictor predictor(context_, weights, search);
  const Csr predictions =
      predict_all(context_, predictor, points, std::min(kDeepest, predictor.labels()));
  return elias::evaluate(labels, predictions, nullptr, {}, context_.pool());
}

float HeldOut::best_gamma(const PredictorWeights& weights) const {
  SearchSettings search = search_settings(weights);
  float best = search.gamma;
  double highest = -1;
  for (const float gamma : kGammas) {
    search.gamma = gamma;
    const Result result{evaluate_with(weights, search, sample_, sample_labels_), search};
    if (result.score() <= highest) continue;
    highest = result.score();
    best = gamma;
  }
  return best;
}

HeldOut::Result HeldOut::evaluate(const PredictorWeights& weights, bool choose_gamma) const {
  SearchSettings search = search_settings(weights);
  const bool searched = static_cast<bool>(weights.cluster_weights);
  if (choose_gamma && searched && settings_.gamma < 0) search.gamma = best_gamma(weights);
  return {evaluate_with(weights, search, points_, labels_), search};
}

ScoreLine HeldOut::score_line(const PredictorWeights& weights, float slope_of_loss) const {
  constexpr int64_t kDeepest = 100;
  const Predictor predictor(context_, weights, search_settings(weights));
  const Csr found =
      predict_all(context_, predictor, sample_, std::min(kDeepest, predictor.labels()));
  std::vector<float> scores;
  std::vector<uint8_t> is_true;
  for (size_t i = 0; i < found.rows(); ++i) {
    const CsrRow row = found.row(i);
    const auto truth = sample_labels_.row(i).columns;
    for (size_t j = 0; j < row.size(); ++j) {
      scores.push_back(slope_of_loss * log_odds(row.values[j]));
      is_true.push_back(std::ranges::binary_search(truth, row.columns[j]) ? 1 : 0);
    }
  }
  const std::array inputs = {PiecewiseInput{.knots = {}, .monotone = true, .prior_slope = 1}};
  const MonotoneLogistic line =
      fit_monotone_logistic({.values = scores, .targets = is_true}, inputs, {}, context_.pool());
  // Never level: what is ranked first stays there.
  constexpr float kLeastSlope = 1e-3F;
  const float slope = slope_of_loss * line.inputs[0].slopes[0];
  return {.slope = std::max(kLeastSlope, slope), .offset = line.bias};
}

}  // namespace elias
