// One label as a model sees it: the clusters through which the index finds it, with the company it
// has there, and the labels whose classifiers are most like its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "model/predictor.h"

namespace elias {

struct LabelPortrait {
  struct Scored {
    uint32_t label = 0;
    float score = 0;
  };
  struct Cluster {
    int64_t cluster = 0;
    float score = 0;             // of its edge to the label
    int64_t edges = 0;           // in all
    std::vector<Scored> others;  // its other labels by the score of the edge, best first
  };

  uint32_t label = 0;
  int64_t edges = 0;              // how many clusters lead to the label
  std::vector<Cluster> clusters;  // the best of them, by score
  std::vector<Scored> nearest;    // by the cosine of the classifiers' weights, without the bias
};

/// The labels of a cluster, but for one, by the score of its edges: at most `most`, best first.
std::vector<LabelPortrait::Scored> strongest_labels(const LabelGraphView& graph, int64_t cluster,
                                                    uint32_t but_for, size_t most);

/// Each list has at most `most` entries; of equal scores the lower cluster or label comes first.
/// Without clusters there are none in the portrait. The cosine with a vector of zeros is 0.
LabelPortrait portray(const PredictorWeights& weights, uint32_t label, size_t most,
                      ThreadPool& pool);

}  // namespace elias
