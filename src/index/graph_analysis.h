// What a learned label graph looks like, and smaller graphs cut from it.
//
// The figures are those by which ELIAS shows what its index has learned (sections 4.3 and 4.4): how
// many clusters a label is found through, head to tail, and how much of stage 1 is left. An edge
// counts if its score is above a threshold, the paper's .25; most of the rest can be cut away.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/label_deciles.h"
#include "index/label_graph.h"

namespace elias {

struct GraphSummary {
  static constexpr size_t kBins = 20;
  static constexpr std::array<float, 5> kThresholds = {0.05F, 0.1F, 0.25F, 0.5F, 0.75F};

  struct ClusterSizes {
    int64_t least = 0, most = 0;
    double mean = 0;
  };

  int64_t edges = 0;
  int64_t covered = 0;         // labels with an edge, of whatever score
  int64_t counted = 0;         // edges that count
  ClusterSizes cluster_sizes;  // in edges that count
  std::array<int64_t, kBins>
      histogram{};  // bin i: scores in [i / 20, (i + 1) / 20), the last with 1
  /// Edges that count a label, the mean of the labels of each group of LabelDeciles; 0 for a group
  /// without labels.
  std::array<double, LabelDeciles::kGroups> clusters_per_label{};
  /// The share of labels whose edge to their cluster of stage 1 is there with a score above each of
  /// kThresholds. Not known if the clusters of stage 1 are not.
  std::optional<std::array<double, kThresholds.size()>> stage1_kept;
};

/// label_counts [L] are training points; stage1_clusters [L], or empty if not known. Scores in
/// [0, 1].
GraphSummary summarise(const LabelGraphView& graph, std::span<const uint64_t> label_counts,
                       std::span<const int32_t> stage1_clusters, float threshold = 0.25F);

/// Part of a graph: its edges, with the scores they had.
struct PrunedGraph {
  LabelGraph graph;
  std::vector<float> scores;  // [E]

  LabelGraphView view() const { return {graph.label_count, graph.offsets, graph.labels, scores}; }
};

/// The edges with a score above `threshold`.
PrunedGraph edges_above(const LabelGraphView& graph, float threshold);

/// The `most` edges with the highest scores of each row, of equal ones those to the lower labels.
PrunedGraph top_edges(const LabelGraphView& graph, size_t most);

/// Gives each label that lost all of its edges its best one back (that of label_parents), so that
/// whatever `graph` leads to stays within reach. `pruned` is part of `graph`. Returns how many
/// edges came back.
int64_t restore_best_edges(const LabelGraphView& graph, PrunedGraph& pruned);

}  // namespace elias
