#include "index/label_graph.h"

#include <algorithm>

#include "base/errors.h"

namespace elias {

std::vector<ClusterEdge> edges_to(const LabelGraphView& graph, int32_t label) {
  std::vector<ClusterEdge> edges;
  for (int64_t c = 0; c < graph.clusters(); ++c) {
    const int64_t begin = graph.offsets[c];
    const auto row = graph.labels.subspan(begin, graph.offsets[c + 1] - begin);
    const auto found = std::lower_bound(row.begin(), row.end(), label);
    if (found == row.end() || *found != label) continue;
    edges.push_back({c, graph.scores[begin + (found - row.begin())]});
  }
  return edges;
}

LabelGraph partition_graph(std::span<const int32_t> cluster_of, int64_t C) {
  LabelGraph graph;
  graph.label_count = static_cast<int64_t>(cluster_of.size());
  graph.offsets.assign(C + 1, 0);
  for (const int32_t cluster : cluster_of) {
    ELIAS_ASSERT(cluster >= 0 && cluster < C);
    ++graph.offsets[cluster + 1];
  }
  for (int64_t c = 0; c < C; ++c) graph.offsets[c + 1] += graph.offsets[c];
  graph.labels.resize(cluster_of.size());
  std::vector<int64_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (size_t l = 0; l < cluster_of.size(); ++l) {
    graph.labels[next[cluster_of[l]]++] = static_cast<int32_t>(l);
  }
  return graph;
}

std::vector<int32_t> label_parents(const LabelGraphView& graph) {
  std::vector<int32_t> parents(graph.label_count, -1);
  std::vector<float> best(graph.label_count, -1);
  for (int64_t c = 0; c < graph.clusters(); ++c) {
    for (int64_t edge = graph.offsets[c]; edge < graph.offsets[c + 1]; ++edge) {
      const int32_t label = graph.labels[edge];
      if (graph.scores[edge] > best[label]) {
        best[label] = graph.scores[edge];
        parents[label] = static_cast<int32_t>(c);
      }
    }
  }
  return parents;
}

}  // namespace elias
