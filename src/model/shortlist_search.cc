// Clusters are scored for all points at once, a product; labels point by point, since every point
// has its own.
#include "model/shortlist_search.h"

#include <limits>

#include "ops/lookup/gather_dot.h"
#include "ops/lookup/top_k.h"
#include "ops/rows/softmax_clamp.h"

namespace elias {
namespace {

// What yhat counts as for a label that was asked for and not found.
constexpr float kNotFound = std::numeric_limits<float>::min();

// At least `rows` rows of `width`.
void grow(Tensor& tensor, int64_t rows, int64_t width, DType dtype) {
  if (tensor && tensor.shape()[0] >= rows) return;
  tensor = Tensor({rows, width}, dtype);
}

}  // namespace

ShortlistSearch::ShortlistSearch(Isa isa, const PredictorWeights& weights,
                                 const SearchSettings& settings)
    : settings_(settings),
      search_(weights.graph.label_count, isa),
      labels_(static_cast<size_t>(settings.shortlist)),
      yhat_(labels_.size()),
      z_(labels_.size()),
      scored_(labels_.size()) {}

// s = clamp(alpha softmax(W_C phi + b_C)), and the `beam` best of each point (ELIAS, eq. 1). They
// are chosen by their logits, as in training: where alpha is above the beam, more clusters than it
// has places may be clamped to 1, and among these their ids would decide.
void ShortlistSearch::score_clusters(const Context& context, const SearchWeights& weights,
                                     ConstTensorView phi) {
  const int64_t n = phi.rows();
  const int64_t C = weights.clusters.outer();
  const int64_t b = settings_.beam;
  grow(cluster_scores_, n, C, DType::kFloat32);
  grow(log_sums_, n, 1, DType::kFloat32);
  grow(best_scores_, n, b, DType::kFloat32);
  grow(best_clusters_, n, b, DType::kInt32);
  const TensorView s = cluster_scores_.view().slice(0, n);
  linear(context, phi, weights.clusters, weights.given.cluster_bias, Activation::kNone, s);
  top_k(context, s, best_scores_.view().slice(0, n), best_clusters_.view().slice(0, n));
  softmax_clamp(context, s, settings_.alpha, s, log_sums_.view().slice(0, n).reshaped({n}));
  const auto scores = cluster_scores_.span<float>();
  const auto best = best_clusters_.span<int32_t>();
  for (int64_t place = 0; place < n * b; ++place) {
    best_scores_.span<float>()[place] = scores[place / b * C + best[place]];
  }
}

// Fills labels_ and yhat_ from the last exploration; returns how many labels there are.
size_t ShortlistSearch::list_labels(std::span<const uint8_t> allowed,
                                    std::span<const int32_t> listed) {
  if (!listed.empty()) {
    for (size_t i = 0; i < listed.size(); ++i) {
      labels_[i] = listed[i];
      yhat_[i] = std::max(search_.score(listed[i]), kNotFound);
    }
    return listed.size();
  }
  return search_.shortlist({.labels = labels_, .scores = yhat_, .edges = {}, .slots = {}}, allowed);
}

void ShortlistSearch::rank(const Context& context, const SearchWeights& weights,
                           ConstTensorView phi, int64_t k, std::span<const uint8_t> allowed,
                           std::span<const int32_t> listed, const RankedLabels& ranked) {
  score_clusters(context, weights, phi);
  const auto beam = static_cast<size_t>(settings_.beam);
  const auto places = static_cast<size_t>(k);
  for (int64_t i = 0; i < phi.rows(); ++i) {
    const auto point = static_cast<size_t>(i);
    search_.explore(weights.given.graph, best_clusters_.span<int32_t>().subspan(point * beam, beam),
                    best_scores_.span<float>().subspan(point * beam, beam));
    const size_t count = list_labels(allowed, listed);
    const Shape row{1, static_cast<int64_t>(count)};
    gather_dot(context, phi.slice(i, i + 1), weights.given.label_weights, weights.given.label_bias,
               ConstTensorView(labels_.data(), row), TensorView(z_.data(), row));
    for (size_t j = 0; j < count; ++j) {
      scored_[j] = {.score = final_score(z_[j], yhat_[j], settings_.gamma), .label = labels_[j]};
    }
    write_best(std::span(scored_).first(count), ranked.labels.subspan(point * places, places),
               ranked.scores.subspan(point * places, places));
  }
}

}  // namespace elias
