// Label weights are read as they lie, once for all points of a chunk (ops/lookup/best_rows.h). That
// rounds points where weights are rounded, so it finds candidates, which are then scored as the
// rest of the program scores labels.
#include "model/exact_scan.h"

#include <algorithm>

#include "ops/lookup/best_rows.h"

namespace elias {
namespace {

// Candidates beyond those asked for: labels that rounding has put behind the last of these, and
// those whose scores are equal where logits are not (far from 0 a sigmoid rounds to 1).
int64_t candidates_for(int64_t k, int64_t L) {
  constexpr int64_t kFewest = 32;
  return std::min(L, k + std::max(kFewest, k / 4));
}

}  // namespace

void ExactScan::rank(const Context& context, const PredictorWeights& weights, ConstTensorView phi,
                     std::span<const uint8_t> allowed, std::span<const int32_t> listed,
                     const RankedLabels& ranked) {
  if (!listed.empty()) return listed_.rank(context, weights, phi, listed, ranked);
  const int64_t n = phi.rows();
  const size_t places = ranked.labels.size() / static_cast<size_t>(n);
  const int64_t candidates =
      candidates_for(static_cast<int64_t>(places), weights.label_weights.rows());
  const Shape shape{n, candidates};
  ids_.resize(static_cast<size_t>(shape.elements()));
  values_.resize(ids_.size());
  best_rows(context, phi, weights.label_weights, weights.label_bias, allowed,
            TensorView(values_.data(), shape), TensorView(ids_.data(), shape));
  for (int64_t i = 0; i < n; ++i) {
    const auto point = static_cast<size_t>(i), width = static_cast<size_t>(candidates);
    const auto own = std::span<const int32_t>(ids_).subspan(point * width, width);
    const auto found = own.first(static_cast<size_t>(std::ranges::find(own, -1) - own.begin()));
    listed_.rank(context, weights, phi.slice(i, i + 1), found,
                 {ranked.labels.subspan(point * places, places),
                  ranked.scores.subspan(point * places, places)});
  }
}

}  // namespace elias
