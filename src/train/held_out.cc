#include "train/held_out.h"

#include <algorithm>
#include <array>

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
      features_(data.held_out_features),
      labels_(data.held_out_labels),
      sample_features_(sample_rows(features_, kSampleSize)),
      sample_labels_(sample_rows(labels_, kSampleSize)) {}

// A model of few labels has fewer clusters than the beam, or labels than the shortlist.
SearchSettings HeldOut::search_settings(const PredictorWeights& weights) const {
  return {.alpha = settings_.alpha,
          .beam = std::min(settings_.beam, settings_.clusters),
          .shortlist = std::min(settings_.shortlist, weights.label_weights.rows()),
          .gamma = settings_.gamma < 0 ? kUsualGamma : settings_.gamma};
}

Evaluation HeldOut::evaluate_with(const PredictorWeights& weights, const SearchSettings& search,
                                  const Csr& features, const Csr& labels) const {
  constexpr int64_t kDeepest = 100;
  const Predictor predictor(context_, weights, search);
  const Csr predictions =
      predict_all(context_, predictor, features, std::min(kDeepest, predictor.labels()));
  return elias::evaluate(labels, predictions, nullptr, {}, context_.pool());
}

float HeldOut::best_gamma(const PredictorWeights& weights) const {
  SearchSettings search = search_settings(weights);
  float best = search.gamma;
  double highest = -1;
  for (const float gamma : kGammas) {
    search.gamma = gamma;
    const Result result{evaluate_with(weights, search, sample_features_, sample_labels_), search};
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
  return {evaluate_with(weights, search, features_, labels_), search};
}

}  // namespace elias
