// One split of a set of labels into two halves, and the memory to do it (see balanced_clusters.h).
//
// All vectors here are the dense part of a centroid followed by its sparse part spread out. A small
// node numbers the columns that its labels have anew, and its vectors have only these: most nodes
// of a tree are small, and must not pay for the whole vocabulary at every step. The sums of the
// halves are kept from one iteration to the next: soon only few labels change sides.
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
  void number_columns();
  void point_apart(size_t from, size_t to);
  void point_between_halves();
  void sum_halves();
  void halve();
  void reorder(std::span<int32_t> labels) const;

  CsrRow terms(size_t place) const;
  void add_label(size_t place, float factor, float* vector) const;
  float score(size_t place) const;

  const LabelCentroids& centroids_;
  int most_iterations_;
  ThreadPool& pool_;
  size_t dense_width_;                      // D
  AlignedBuffer<float> direction_;          // [D + V]
  std::vector<AlignedBuffer<float>> sums_;  // left, right [2, D + V]: of all, of chunks 1, 2 ...
  std::vector<uint32_t> number_of_;         // [V], from 1; zero between splits

  // Of the node in work:
  std::span<const int32_t> labels_;  // [n]; a label's place is its index here
  size_t width_ = 0;                 // of vectors: D and the numbered columns, or all V
  bool numbered_ = false;            // whether columns have new numbers
  std::vector<size_t> starts_;       // [n + 1]: where in columns_ a label's terms begin
  std::vector<uint32_t> columns_;    // the new numbers
  std::vector<float> scores_;        // [n]
  std::vector<uint8_t> right_;       // [n]: 1 if the label is in the right half
  std::vector<uint32_t> changed_;    // the places that changed sides; all of them at first
};

}  // namespace elias
