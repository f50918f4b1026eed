#include "index/graph_analysis.h"

#include <algorithm>
#include <numeric>

#include "base/errors.h"

namespace elias {
namespace {

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

size_t bin_of(float score) {
  const auto bin = static_cast<size_t>(static_cast<double>(score) * GraphSummary::kBins);
  return std::min(bin, GraphSummary::kBins - 1);
}

/// How many edges above the threshold each cluster has, and each label.
struct Counts {
  std::vector<int64_t> of_clusters, of_labels;
};

Counts count_above(const LabelGraphView& graph, float threshold) {
  Counts counts{std::vector<int64_t>(graph.clusters()), std::vector<int64_t>(graph.label_count)};
  for (int64_t c = 0; c < graph.clusters(); ++c) {
    for (int64_t edge = graph.offsets[c]; edge < graph.offsets[c + 1]; ++edge) {
      if (graph.scores[edge] > threshold) {
        ++counts.of_clusters[c];
        ++counts.of_labels[graph.labels[edge]];
      }
    }
  }
  return counts;
}

std::array<double, LabelDeciles::kGroups> means_by_group(std::span<const int64_t> of_labels,
                                                         const LabelDeciles& deciles) {
  std::array<int64_t, LabelDeciles::kGroups> sums{};
  for (size_t l = 0; l < of_labels.size(); ++l) sums[deciles.group_of[l]] += of_labels[l];
  std::array<double, LabelDeciles::kGroups> means{};
  for (size_t group = 0; group < means.size(); ++group) {
    means[group] = share(sums[group], static_cast<int64_t>(deciles.groups[group].labels));
  }
  return means;
}

std::array<double, GraphSummary::kThresholds.size()> stage1_kept(
    const LabelGraphView& graph, std::span<const int32_t> stage1_clusters) {
  std::array<int64_t, GraphSummary::kThresholds.size()> kept{};
  for (int64_t c = 0; c < graph.clusters(); ++c) {
    for (int64_t edge = graph.offsets[c]; edge < graph.offsets[c + 1]; ++edge) {
      if (stage1_clusters[graph.labels[edge]] != c) continue;
      for (size_t t = 0; t < kept.size(); ++t) {
        kept[t] += graph.scores[edge] > GraphSummary::kThresholds[t];
      }
    }
  }
  std::array<double, GraphSummary::kThresholds.size()> shares{};
  for (size_t t = 0; t < kept.size(); ++t) shares[t] = share(kept[t], graph.label_count);
  return shares;
}

/// Of each row the edges that choose(first, last) moves to the front; it returns where they end.
template <typename Choose>
PrunedGraph pruned(const LabelGraphView& graph, const Choose& choose) {
  PrunedGraph result;
  result.graph.label_count = graph.label_count;
  std::vector<int64_t> row;
  for (int64_t c = 0; c < graph.clusters(); ++c) {
    row.resize(graph.offsets[c + 1] - graph.offsets[c]);
    std::iota(row.begin(), row.end(), graph.offsets[c]);
    row.erase(choose(row.begin(), row.end()), row.end());
    std::sort(row.begin(), row.end());
    for (const int64_t edge : row) {
      result.graph.labels.push_back(graph.labels[edge]);
      result.scores.push_back(graph.scores[edge]);
    }
    result.graph.offsets.push_back(result.graph.edges());
  }
  return result;
}

}  // namespace

GraphSummary summarise(const LabelGraphView& graph, std::span<const uint64_t> label_counts,
                       std::span<const int32_t> stage1_clusters, float threshold) {
  const auto L = static_cast<size_t>(graph.label_count);
  ELIAS_ASSERT(label_counts.size() == L && graph.scores.size() == graph.labels.size());
  ELIAS_ASSERT(stage1_clusters.empty() || stage1_clusters.size() == L);
  GraphSummary summary;
  summary.edges = static_cast<int64_t>(graph.labels.size());
  std::vector<uint8_t> covered(L);
  for (const int32_t label : graph.labels) covered[label] = 1;
  summary.covered = std::count(covered.begin(), covered.end(), 1);
  for (const float score : graph.scores) ++summary.histogram[bin_of(score)];

  const Counts counts = count_above(graph, threshold);
  const auto& sizes = counts.of_clusters;
  summary.counted = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  if (!sizes.empty()) {
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    summary.cluster_sizes = {*least, *most, share(summary.counted, graph.clusters())};
  }
  summary.clusters_per_label = means_by_group(counts.of_labels, label_deciles(label_counts));
  if (!stage1_clusters.empty()) summary.stage1_kept = stage1_kept(graph, stage1_clusters);
  return summary;
}

PrunedGraph edges_above(const LabelGraphView& graph, float threshold) {
  return pruned(graph, [&](auto first, auto last) {
    return std::remove_if(first, last,
                          [&](int64_t edge) { return !(graph.scores[edge] > threshold); });
  });
}

PrunedGraph top_edges(const LabelGraphView& graph, size_t most) {
  return pruned(graph, [&](auto first, auto last) {
    if (static_cast<size_t>(last - first) <= most) return last;
    const auto end = first + static_cast<ptrdiff_t>(most);
    std::nth_element(first, end, last, [&](int64_t a, int64_t b) {
      return graph.scores[a] != graph.scores[b] ? graph.scores[a] > graph.scores[b] : a < b;
    });
    return end;
  });
}

int64_t restore_best_edges(const LabelGraphView& graph, PrunedGraph& pruned) {
  std::vector<int32_t> lost_to = label_parents(graph);  // the cluster to go back to; -1: none
  for (const int32_t label : pruned.graph.labels) lost_to[label] = -1;

  PrunedGraph result;
  result.graph.label_count = graph.label_count;
  size_t kept = 0;  // edges of `pruned` that were passed
  for (int64_t c = 0; c < graph.clusters(); ++c) {
    const auto row_end = static_cast<size_t>(pruned.graph.offsets[c + 1]);
    for (int64_t edge = graph.offsets[c]; edge < graph.offsets[c + 1]; ++edge) {
      const int32_t label = graph.labels[edge];
      const bool is_kept = kept < row_end && pruned.graph.labels[kept] == label;
      kept += is_kept;
      if (!is_kept && lost_to[label] != c) continue;
      result.graph.labels.push_back(label);
      result.scores.push_back(graph.scores[edge]);
    }
    result.graph.offsets.push_back(result.graph.edges());
  }
  const int64_t restored = result.graph.edges() - pruned.graph.edges();
  pruned = std::move(result);
  return restored;
}

}  // namespace elias
