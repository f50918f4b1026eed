// The support of the label graph, from what stage 1 finds: A' = M' Y (ELIAS, section 3.4).
//
// M [N x C] holds each training point's best clusters with their scores, Y its labels. Points are
// added in batches and never kept; A' stays sparse. Row c keeps the kappa labels of the largest
// A'[c], ties by id. The paper stops there, which leaves rare labels in no row; here every label
// also keeps the edges to its best clusters and to the one of stage 1.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "index/label_graph.h"
#include "ops/tensor.h"

namespace elias {

struct GraphOptions {
  int64_t most_edges = 1000;  // kappa, of a cluster
  /// How many of its best clusters every label keeps an edge to, beside its stage-1 cluster; it
  /// takes the place of its row's smallest where the row is full. A row has more than kappa edges
  /// only if so many are kept in this way. 0: as published, no repair.
  int kept_clusters = 2;
};

struct BuiltGraph {
  LabelGraph graph;
  /// [E]: the share of the label's A' mass that lies in the cluster, in [0, 1]; an edge that
  /// stands for the stage-1 cluster alone has 0.
  std::vector<float> shares;
  int64_t uncovered = 0;  // labels with a training point that are in no row
};

class GraphBuilder {
 public:
  /// cluster_of [L] is the partition of stage 1. `pool` must outlive the builder.
  GraphBuilder(std::span<const int32_t> cluster_of, int64_t C, ThreadPool& pool);
  ~GraphBuilder();

  /// Points [begin, begin + n) of `labels`: clusters, scores [n, b], as top_k gives them.
  void add(const Csr& labels, size_t begin, ConstTensorView clusters, ConstTensorView scores);
  /// Once, after all points: what was added is used up.
  BuiltGraph finish(const GraphOptions& options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The values [E] a starts with: uniform in [0, 1) as published, or 0.2 of that and 4 * share.
std::vector<float> initial_edges(const BuiltGraph& built, bool informed, uint64_t seed);

}  // namespace elias
