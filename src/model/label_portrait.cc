#include "model/label_portrait.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace elias {
namespace {

using Scored = LabelPortrait::Scored;

/// The `most` best of `all`, best first; of equal scores the lower label first.
std::vector<Scored> best_of(std::vector<Scored> all, size_t most) {
  const auto end = all.begin() + static_cast<ptrdiff_t>(std::min(most, all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score > b.score : a.label < b.label;
  });
  all.erase(end, all.end());
  return all;
}

/// All clusters that lead to the label, best first.
std::vector<LabelPortrait::Cluster> clusters_of(const LabelGraphView& graph, uint32_t label) {
  std::vector<LabelPortrait::Cluster> clusters;
  for (const auto& [c, score] : edges_to(graph, static_cast<int32_t>(label))) {
    clusters.push_back({c, score, graph.offsets[c + 1] - graph.offsets[c], {}});
  }
  std::stable_sort(clusters.begin(), clusters.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return clusters;
}

float value_of(float value) { return value; }
float value_of(BFloat16 value) { return to_float(value); }

template <typename T>
double dot(const T* a, const T* b, int64_t D) {
  double sum = 0;
  for (int64_t d = 0; d < D; ++d) {
    sum += static_cast<double>(value_of(a[d])) * static_cast<double>(value_of(b[d]));
  }
  return sum;
}

/// The cosine of each row of `weights` [L, D] with that of `label`, the label itself left out.
template <typename T>
std::vector<Scored> cosines(const ConstTensorView& weights, uint32_t label, ThreadPool& pool) {
  constexpr size_t kLabelsPerChunk = 1024;
  const auto L = static_cast<size_t>(weights.rows());
  const int64_t D = weights.width();
  const T* all = weights.span<T>().data();
  const T* own = all + label * D;
  const double own_square = dot(own, own, D);
  std::vector<Scored> result(L);
  pool.for_chunks(L, kLabelsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t l = begin; l < end; ++l) {
      const T* other = all + l * D;
      const double cosine = dot(own, other, D) / std::sqrt(own_square * dot(other, other, D));
      result[l] = {static_cast<uint32_t>(l),
                   std::isfinite(cosine) ? static_cast<float>(cosine) : 0.0F};
    }
  });
  result.erase(result.begin() + label);
  return result;
}

}  // namespace

std::vector<Scored> strongest_labels(const LabelGraphView& graph, int64_t cluster, uint32_t but_for,
                                     size_t most) {
  std::vector<Scored> others;
  for (int64_t edge = graph.offsets[cluster]; edge < graph.offsets[cluster + 1]; ++edge) {
    const auto other = static_cast<uint32_t>(graph.labels[edge]);
    if (other != but_for) others.push_back({other, graph.scores[edge]});
  }
  return best_of(std::move(others), most);
}

LabelPortrait portray(const PredictorWeights& weights, uint32_t label, size_t most,
                      ThreadPool& pool) {
  const ConstTensorView& classifiers = weights.label_weights;
  ELIAS_ASSERT(label < classifiers.rows());
  LabelPortrait portrait;
  portrait.label = label;
  if (weights.cluster_weights) {
    portrait.clusters = clusters_of(weights.graph, label);
    portrait.edges = static_cast<int64_t>(portrait.clusters.size());
    portrait.clusters.resize(std::min(most, portrait.clusters.size()));
    for (LabelPortrait::Cluster& cluster : portrait.clusters) {
      cluster.others = strongest_labels(weights.graph, cluster.cluster, label, most);
    }
  }
  portrait.nearest =
      best_of(classifiers.dtype() == DType::kBFloat16 ? cosines<BFloat16>(classifiers, label, pool)
                                                      : cosines<float>(classifiers, label, pool),
              most);
  return portrait;
}

}  // namespace elias
