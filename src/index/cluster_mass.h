// A' = M' Y by rows, summed from a stream of its terms.
//
// Terms wait in arrival order until there are enough of them to be worth a pass over what is
// stored, and are then merged into their rows. Every sum is taken in arrival order whatever was
// merged when, so its bits depend on nothing else. Memory: 12 bytes for each (cluster, label) with
// a term, and a fifth of it again for those that wait and are merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"

namespace elias {

class ClusterMass {
 public:
  /// A row of A': labels rising, and their sums.
  struct Row {
    std::vector<int32_t> labels;
    std::vector<double> sums;
  };

  /// `pool` must outlive this. Terms are merged when `fewest_waiting` wait, or more.
  ClusterMass(int64_t C, ThreadPool& pool, size_t fewest_waiting = size_t{1} << 22);

  void add(int32_t cluster, int32_t label, float mass) {
    if (waiting_.size() == waiting_.capacity()) make_room();
    waiting_.push_back({cluster, label, mass});
    if (waiting_.size() >= limit_) merge();
  }

  /// All rows [C]; nothing is left here.
  std::vector<Row> take();

 private:
  struct Term {
    int32_t cluster;
    int32_t label;
    float mass;
  };
  struct RowTerm {
    int32_t label;
    float mass;
  };

  void make_room();
  void merge();
  static Row merged(const Row& row, std::span<RowTerm> terms);

  ThreadPool& pool_;
  size_t fewest_waiting_;
  size_t limit_;
  std::vector<Row> rows_;
  std::vector<Term> waiting_;
};

}  // namespace elias
