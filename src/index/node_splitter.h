// One split of a set of labels into two halves, and the memory to do it (see balanced_clusters.h).
//
// All vectors here have D + V places: the dense part of a centroid, then its sparse part spread
// out. Only the columns that some label of the node has are ever looked at, so that the many small
// nodes deep in the tree do not pay for the whole vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "index/label_centroids.h"

namespace elias {

/// The random numbers of a node of the tree; the root is node 0 of level 0. The first two pick the
/// labels whose difference is the first direction.
Random node_random(uint64_t seed, int level, size_t node);

class NodeSplitter {
 public:
  /// `centroids` and `pool` must outlive the splitter.
  NodeSplitter(const LabelCentroids& centroids, int most_iterations, ThreadPool& pool);

  /// Reorders the labels [n], n >= 2, which come in rising order: the floor(n / 2) of the left
  /// half, then the right half, each in rising order.
  void split(std::span<int32_t> labels, const Random& random);

 private:
  void find_columns(std::span<const int32_t> labels);
  void point_apart(int32_t from, int32_t to);
  void point_between_halves(std::span<const int32_t> labels);
  void sum_halves(std::span<const int32_t> labels, size_t chunks);
  bool halve(std::span<const int32_t> labels);

  void add_label(int32_t label, float factor, float* vector) const;
  float score(int32_t label) const;

  const LabelCentroids& centroids_;
  int most_iterations_;
  ThreadPool& pool_;
  std::span<const float> dense_;  // [L, D]
  size_t D_;
  size_t width_;                            // D + V
  std::vector<uint8_t> seen_;               // [V], zero between splits
  std::vector<uint32_t> columns_;           // of the node
  AlignedBuffer<float> direction_;          // [D + V]
  std::vector<AlignedBuffer<float>> sums_;  // a chunk of labels: left, right [2, D + V]; zero again
  std::vector<float> scores_;               // [n]
  std::vector<uint32_t> places_;            // [n]
  std::vector<uint8_t> right_, before_;     // [n]: 1 if the label is in the right half
};

}  // namespace elias
