// The search through the label graph, slow and obvious: every path, the best of each label, a sort.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "index/label_graph.h"

namespace elias::reference {

struct Path {
  float score;
  int32_t edge, slot;
};

// The best path to each label that a path leads to; of equal ones that of the first slot. In float:
// what is compared is which path wins, and that must not hang on rounding.
inline std::map<int32_t, Path> explore(const LabelGraphView& graph,
                                       std::span<const int32_t> clusters,
                                       std::span<const float> scores) {
  std::map<int32_t, Path> best;
  for (size_t slot = 0; slot < clusters.size(); ++slot) {
    for (int64_t e = graph.offsets[clusters[slot]]; e < graph.offsets[clusters[slot] + 1]; ++e) {
      const Path path{.score = scores[slot] * graph.scores[e],
                      .edge = static_cast<int32_t>(e),
                      .slot = static_cast<int32_t>(slot)};
      if (path.score == 0) continue;
      const auto [known, is_new] = best.try_emplace(graph.labels[e], path);
      if (!is_new && path.score > known->second.score) known->second = path;
    }
  }
  return best;
}

// The K labels with the highest scores, of equal ones the lowest labels; rising.
inline std::vector<int32_t> shortlist(const std::map<int32_t, Path>& best, size_t K) {
  std::vector<int32_t> labels;
  for (const auto& [label, path] : best) labels.push_back(label);
  std::ranges::stable_sort(labels, [&](int32_t left, int32_t right) {
    return best.at(left).score > best.at(right).score;
  });
  labels.resize(std::min(K, labels.size()));
  std::ranges::sort(labels);
  return labels;
}

}  // namespace elias::reference
