#include "model/nearest_labels.h"

#include <algorithm>

namespace elias {

NearestLabels::NearestLabels(const PredictorWeights& weights, const RowDots& dots, int64_t ef)
    : weights_(weights),
      search_(weights.neighbours, dots, weights.label_weights.width()),
      ef_(ef) {}

bool NearestLabels::is_worth_while(int64_t k) const {
  // A search reads about ten rows from anywhere for each label that it keeps, a scan all in turn.
  constexpr int64_t kLabelsPerKept = 16;
  return k <= std::max(ef_, weights_.neighbours.label_count / kLabelsPerKept);
}

void NearestLabels::rank(const Context& context, ConstTensorView phi, ExactScan& scan,
                         const RankedLabels& ranked) {
  const size_t places = ranked.labels.size() / static_cast<size_t>(phi.rows());
  const int64_t ef = std::max(ef_, static_cast<int64_t>(places));
  const size_t wanted = std::min(places, static_cast<size_t>(weights_.neighbours.label_count));
  for (int64_t i = 0; i < phi.rows(); ++i) {
    const ConstTensorView point = phi.slice(i, i + 1);
    const auto first = static_cast<size_t>(i) * places;
    const RankedLabels own{ranked.labels.subspan(first, places),
                           ranked.scores.subspan(first, places)};
    const auto found = search_.find(point.span<float>(), ef);
    if (found.size() < wanted) {
      scan.rank(context, weights_, point, {}, {}, own);
      continue;
    }
    scored_.clear();
    for (const NearLabel& label : found) {
      scored_.push_back({.score = sigmoid(label.z), .label = label.label});
    }
    write_best(std::span(scored_), own.labels, own.scores);
  }
}

}  // namespace elias
