// The graph from clusters to labels: row c lists the labels that can be found through cluster c.
//
// It is the matrix A of ELIAS (section 3.2), by rows: its support is fixed before stage 2, its
// values are learned. In stage 1 every label stands in one row alone, with an edge score of 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elias {

/// The support, C rows over L labels with E edges in all.
struct LabelGraph {
  int64_t label_count = 0;          // L
  std::vector<int64_t> offsets{0};  // [C + 1]; row c is [offsets[c], offsets[c + 1])
  std::vector<int32_t> labels;      // [E], rising within a row

  int64_t clusters() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t edges() const { return static_cast<int64_t>(labels.size()); }
};

/// A graph to read, wherever it lies, with the scores of its edges.
struct LabelGraphView {
  int64_t label_count = 0;
  std::span<const int64_t> offsets;
  std::span<const int32_t> labels;
  std::span<const float> scores;  // [E] in [0, 1]: clamp(beta * softmax of the row), eq. 2

  int64_t clusters() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

/// An edge to a label, seen from the label.
struct ClusterEdge {
  int64_t cluster = 0;
  float score = 0;
};

/// All edges to the label, by rising cluster.
std::vector<ClusterEdge> edges_to(const LabelGraphView& graph, int32_t label);

/// The graph in which each label has one cluster: cluster_of [L], in [0, C).
LabelGraph partition_graph(std::span<const int32_t> cluster_of, int64_t C);

/// parents [L]: the cluster with the highest score of an edge to the label, the lowest of equals;
/// -1 for a label in no row.
std::vector<int32_t> label_parents(const LabelGraphView& graph);

}  // namespace elias
