// Small label graphs for the tests of the search.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/random.h"
#include "index/label_graph.h"

namespace elias {

struct ScoredGraph {
  LabelGraph graph;
  std::vector<float> scores;

  LabelGraphView view() const {
    return {.label_count = graph.label_count,
            .offsets = graph.offsets,
            .labels = graph.labels,
            .scores = scores};
  }
};

/// Each label is in each row with the given probability; what `score` returns is its edge's.
inline ScoredGraph random_graph(int64_t C, int64_t L, double density, uint64_t seed,
                                const std::function<float(double)>& score) {
  ScoredGraph result;
  result.graph.label_count = L;
  RandomSequence random(seed, 4);
  for (int64_t c = 0; c < C; ++c) {
    for (int32_t label = 0; label < L; ++label) {
      if (random.uniform() >= density) continue;
      result.graph.labels.push_back(label);
      result.scores.push_back(score(random.uniform()));
    }
    result.graph.offsets.push_back(static_cast<int64_t>(result.graph.labels.size()));
  }
  return result;
}

}  // namespace elias
