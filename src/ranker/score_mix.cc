#include "ranker/score_mix.h"

#include <array>
#include <cmath>

#include "base/errors.h"
#include "ranker/log_odds.h"
#include "ranker/sparse_ranker.h"

namespace elias {
namespace {

constexpr size_t kTreeInputs = ScoreMix::kTreeInputs, kLearnedInputs = ScoreMix::kLearnedInputs;

std::array<float, kTreeInputs> tree_inputs(const FoundLabel& label, float q) {
  return {label.p, q, label.p * q, static_cast<float>(label.count)};
}

std::array<float, kLearnedInputs> learned_inputs(const FoundLabel& label) {
  return {log_odds(label.p), label.margin, std::log1p(static_cast<float>(label.count))};
}

/// The values of one input, of the labels that are true.
std::vector<float> of_true(std::span<const FoundLabel> found, std::span<const uint8_t> is_true,
                           size_t input) {
  std::vector<float> values;
  for (size_t i = 0; i < found.size(); ++i) {
    if (is_true[i] != 0) values.push_back(learned_inputs(found[i])[input]);
  }
  return values;
}

MonotoneLogistic fit_learned(std::span<const FoundLabel> found, std::span<const uint8_t> is_true,
                             ThreadPool& pool) {
  // Knots where true labels are: elsewhere there is nothing to tell apart.
  constexpr std::array kShares = {0.02, 0.1, 0.3, 0.5, 0.7, 0.9};
  const std::array<PiecewiseInput, kLearnedInputs> inputs = {
      PiecewiseInput{.knots = quantile_knots(of_true(found, is_true, 0), kShares),
                     .monotone = true,
                     .prior_slope = 1},
      PiecewiseInput{.knots = quantile_knots(of_true(found, is_true, 1), kShares),
                     .monotone = true,
                     .prior_slope = 1},
      PiecewiseInput{.knots = {}, .monotone = false, .prior_slope = 0}};
  std::vector<float> rows;
  rows.reserve(found.size() * kLearnedInputs);
  for (const FoundLabel& label : found) {
    for (const float value : learned_inputs(label)) rows.push_back(value);
  }
  return fit_monotone_logistic({rows, is_true}, inputs, {}, pool);
}

DecisionTree fit_tree(std::span<const FoundLabel> found, std::span<const uint8_t> is_true,
                      RankerLoss loss) {
  std::vector<float> rows;
  rows.reserve(found.size() * kTreeInputs);
  for (const FoundLabel& label : found) {
    for (const float value : tree_inputs(label, ranker_score(loss, label.margin))) {
      rows.push_back(value);
    }
  }
  return DecisionTree::fit(rows, kTreeInputs, is_true);
}

}  // namespace

float ScoreMix::score(const FoundLabel& label) const {
  if (kind == MixKind::kLearned) return learned.probability(learned_inputs(label));
  const float q = ranker_score(loss, label.margin);
  if (kind == MixKind::kProduct) return label.p * q;
  return (tree->probability(tree_inputs(label, q)) + label.p * q) / 2;
}

ScoreMix fit_mix(MixKind kind, RankerLoss loss, std::span<const FoundLabel> found,
                 std::span<const uint8_t> is_true, ThreadPool& pool) {
  ELIAS_ASSERT(found.size() == is_true.size());
  ScoreMix mix{.kind = kind, .loss = loss, .tree = {}, .learned = {}};
  if (kind == MixKind::kTree) mix.tree = fit_tree(found, is_true, loss);
  if (kind == MixKind::kLearned) mix.learned = fit_learned(found, is_true, pool);
  return mix;
}

void check_mix(const ScoreMix& mix, const std::string& name) {
  if (mix.kind != MixKind::kLearned) return;
  check_monotone_logistic(mix.learned, name);
  if (mix.learned.inputs.size() == kLearnedInputs) return;
  throw InputError(
      "{}: its mix of scores has {} inputs, not {}: copy the model again, or train it anew", name,
      mix.learned.inputs.size(), kLearnedInputs);
}

}  // namespace elias
