// The tree is built level by level. A level of few nodes, which are large, works within one node at
// a time on all threads; a level of many gives each node to a thread. Either way the bits are the
// same: how a node's sums are cut depends on its size alone.
#include "index/balanced_clusters.h"

#include <memory>
#include <numeric>
#include <span>

#include "base/errors.h"
#include "base/random.h"
#include "base/scratch_pool.h"
#include "index/node_splitter.h"

namespace elias {
namespace {

/// Where the nodes of the next level begin; the last entry is the number of labels.
std::vector<size_t> halved(const std::vector<size_t>& starts) {
  std::vector<size_t> halves;
  halves.reserve(2 * starts.size());
  for (size_t node = 0; node + 1 < starts.size(); ++node) {
    halves.push_back(starts[node]);
    halves.push_back(starts[node] + (starts[node + 1] - starts[node]) / 2);
  }
  halves.push_back(starts.back());
  return halves;
}

}  // namespace

std::vector<int32_t> balanced_clusters(const LabelCentroids& centroids,
                                       const ClusterOptions& options, ThreadPool& pool) {
  const auto L = static_cast<size_t>(centroids.labels());
  if (options.depth < 0 || options.depth > 30 ||
      (options.depth > 0 && (size_t{1} << options.depth) > L)) {
    throw InputError("2^{} clusters cannot be made of {} labels: every cluster needs a label",
                     options.depth, L);
  }
  std::vector<int32_t> order(L);
  std::iota(order.begin(), order.end(), 0);
  std::vector<size_t> starts = {0, L};
  ScratchPool<NodeSplitter> splitters(
      [&] { return std::make_unique<NodeSplitter>(centroids, options.most_iterations, pool); });
  for (int level = 0; level < options.depth; ++level) {
    const size_t nodes = starts.size() - 1;
    const auto split = [&](size_t node) {
      const std::span labels(order.data() + starts[node], starts[node + 1] - starts[node]);
      const Random random = node_random(options.seed, level, node);
      splitters.with([&](NodeSplitter& splitter) { splitter.split(labels, random); });
    };
    if (nodes < static_cast<size_t>(pool.threads())) {
      for (size_t node = 0; node < nodes; ++node) split(node);
    } else {
      pool.for_each(nodes, split);
    }
    starts = halved(starts);
  }
  std::vector<int32_t> cluster_of(L);
  for (size_t cluster = 0; cluster + 1 < starts.size(); ++cluster) {
    for (size_t i = starts[cluster]; i < starts[cluster + 1]; ++i) {
      cluster_of[order[i]] = static_cast<int32_t>(cluster);
    }
  }
  return cluster_of;
}

}  // namespace elias
