// The search through a graph of neighbours: one thread's room for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/neighbour_graph.h"
#include "ops/lookup/row_dots.h"

namespace elias {

/// A label and its logit, w_l . x + b_l.
struct NearLabel {
  float z = 0;
  int32_t label = -1;
};

class NeighbourSearch {
 public:
  /// The labels of `graph` have the rows of `dots`; both must outlive it.
  NeighbourSearch(const NeighbourGraphView& graph, const RowDots& dots, int64_t width);

  /// The best labels that a search which keeps `ef` of them finds for x [D], in no order; fewer if
  /// it does not come by as many. Valid until the next call. The same on every call, whatever was
  /// searched before. A logit that is a NaN counts, and is given, as -infinity.
  std::span<const NearLabel> find(std::span<const float> x, int64_t ef);

 private:
  NearLabel descend();
  void score(std::span<const int32_t> labels);
  void look_around(int32_t label, size_t ef);
  void meet(int32_t label);
  void forget();

  const NeighbourGraphView& graph_;
  const RowDots& dots_;
  std::vector<float> point_;      // [D], as dots_ reads it
  std::vector<uint64_t> seen_;    // a bit a label
  std::vector<int32_t> met_;      // whose bits are set
  std::vector<float> z_;          // [most links]
  std::vector<NearLabel> ahead_;  // labels to look around at, a heap with the best in front
  std::vector<NearLabel> best_;   // at most ef, a heap with the worst in front
};

}  // namespace elias
