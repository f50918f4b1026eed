// Balanced clusters of labels: spherical 2-means that halves a set exactly, again and again.
//
// As PECOS does it (ELIAS, section 3.3): a node of n labels is split along the direction from one
// centre to the other; the floor(n / 2) labels with the lowest scores go left, ties by id. Leaves
// differ in size by at most 1. A node's random numbers come from the seed and its place in the
// tree, so the result does not depend on threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "index/label_centroids.h"

namespace elias {

struct ClusterOptions {
  int depth = 0;  // 2^depth clusters; at most as many as there are labels
  int most_iterations = 20;
  uint64_t seed = 0;
};

/// cluster_of [L], in [0, 2^depth).
std::vector<int32_t> balanced_clusters(const LabelCentroids& centroids,
                                       const ClusterOptions& options, ThreadPool& pool);

}  // namespace elias
