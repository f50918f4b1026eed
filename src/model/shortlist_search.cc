// Clusters are scored for all points at once, a product; labels point by point, since every point
// has its own.
#include "model/shortlist_search.h"

#include <algorithm>
#include <limits>

#include "ops/lookup/gather_dot.h"

namespace elias {
namespace {

// What yhat counts as for a label that was asked for and not found.
constexpr float kNotFound = std::numeric_limits<float>::min();

}  // namespace

ShortlistSearch::ShortlistSearch(Isa isa, const PredictorWeights& weights,
                                 const SearchSettings& settings)
    : settings_(settings),
      beam_(settings.beam, settings.alpha),
      search_(weights.graph.label_count, isa),
      labels_(static_cast<size_t>(settings.shortlist)),
      yhat_(labels_.size()),
      z_(labels_.size()),
      scored_(labels_.size()) {}

// Fills labels_ and yhat_ from the last exploration.
void ShortlistSearch::list_labels(std::span<const uint8_t> allowed,
                                  std::span<const int32_t> listed) {
  if (!listed.empty()) {
    for (size_t i = 0; i < listed.size(); ++i) {
      labels_[i] = listed[i];
      yhat_[i] = std::max(search_.score(listed[i]), kNotFound);
    }
    count_ = listed.size();
    return;
  }
  count_ =
      search_.shortlist({.labels = labels_, .scores = yhat_, .edges = {}, .slots = {}}, allowed);
}

bool ShortlistSearch::is_in_shortlist(int32_t label) const {
  return std::ranges::binary_search(std::span(labels_).first(count_), label);
}

void ShortlistSearch::rank(const Context& context, const SearchWeights& weights,
                           ConstTensorView phi, int64_t k, std::span<const uint8_t> allowed,
                           std::span<const int32_t> listed, const RankedLabels& ranked) {
  beam_.find(context, weights.clusters, weights.given.cluster_bias, phi);
  const auto places = static_cast<size_t>(k);
  for (int64_t i = 0; i < phi.rows(); ++i) {
    const auto point = static_cast<size_t>(i);
    search_.explore(weights.given.graph, beam_.clusters(i), beam_.scores(i));
    list_labels(allowed, listed);
    const Shape row{1, static_cast<int64_t>(count_)};
    gather_dot(context, phi.slice(i, i + 1), weights.given.label_weights, weights.given.label_bias,
               ConstTensorView(labels_.data(), row), TensorView(z_.data(), row));
    for (size_t j = 0; j < count_; ++j) {
      scored_[j] = {.score = final_score(z_[j], yhat_[j], settings_.gamma), .label = labels_[j]};
    }
    write_best(std::span(scored_).first(count_), ranked.labels.subspan(point * places, places),
               ranked.scores.subspan(point * places, places));
  }
}

}  // namespace elias
