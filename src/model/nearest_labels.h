// The best labels of points by a graph of neighbours: nearly all of those that a scan finds, in a
// small part of its time.
#pragma once

#include <cstdint>
#include <vector>

#include "index/neighbour_search.h"
#include "model/exact_scan.h"
#include "model/predictor.h"

namespace elias {

/// One thread's room.
class NearestLabels {
 public:
  /// `weights`, which have neighbours, and `dots`, which are of their labels, must outlive it.
  NearestLabels(const PredictorWeights& weights, const RowDots& dots, int64_t ef);

  /// False where so many of all labels are wanted that a scan is the faster way to them.
  bool is_worth_while(int64_t k) const;

  /// The best labels of phi [n, D] that a search finds which keeps as many as are wanted, and at
  /// least ef; scores are those of a scan. `scan` does points for which it finds fewer than that.
  void rank(const Context& context, ConstTensorView phi, ExactScan& scan,
            const RankedLabels& ranked);

 private:
  const PredictorWeights& weights_;
  NeighbourSearch search_;
  int64_t ef_;
  std::vector<ScoredLabel> scored_;
};

}  // namespace elias
