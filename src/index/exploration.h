// The search of a training batch: clusters to explore, shortlists, and the way back.
//
// In training a point explores the parents of its labels, so that these can be found at all
// (teacher forcing, ELIAS section 3.4), the best clusters by their own score, and random ones in
// place of those that stand in both lists, as random negatives. The gradient of a path's log score
// then goes back to the logits of clusters and the values of edges:
//
//   log yhat = log s_c + log e_cl,   d log s_c / d logit_j = [j = c] - softmax_j   (none if
//   clamped)
//
// and likewise for edges within their row, so that a batch needs one sum a cluster and an edge.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "index/label_graph.h"
#include "index/search.h"
#include "index/shortlists.h"
#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// The clusters' scores for N points.
struct ClusterScores {
  ConstTensorView logits;    // [N, C]
  ConstTensorView scores;    // [N, C] clamp(alpha * softmax)
  ConstTensorView log_sums;  // [N]
  ConstTensorView best;      // [N, b] int32, the best clusters
  float alpha;
};

/// Which clusters a point explores beyond its b best.
struct ExploreOptions {
  std::span<const int32_t> parents;  // [L], -1 for none
  int64_t extra_clusters = 0;  // up to that many random ones, fewer if they are listed already
  uint64_t seed = 0;
  uint64_t step = 0;  // every step takes others
};

class Exploration {
 public:
  explicit Exploration(int64_t L) : label_count_(L) {}

  /// Fills the shortlists of the batch.
  void search(const Context& context, const ExploreOptions& options, const ClusterScores& clusters,
              const LabelGraphView& graph, const BatchLabels& labels, Shortlists& shortlists);

  /// The clusters that point i explored: the parents of its labels, its best, random ones.
  std::span<const int32_t> explored(size_t i) const {
    return {clusters_.data() + list_begin_[i], static_cast<size_t>(list_sizes_[i])};
  }
  /// Labels of the batch's points, and how many of them no explored cluster leads to.
  int64_t positives() const { return static_cast<int64_t>(positives_.size()); }
  int64_t missed() const;

  /// The loss on the shortlist (eq. 8): the sum of -t log yhat over the labels that were found, in
  /// a shortlist or not. Each counts `weight` in the gradients taken next.
  double add_shortlist_loss(float weight);

  /// Sets dlogits [N, C] from the shortlists' dlog_yhat and the loss above.
  void cluster_gradient(const Context& context, const ClusterScores& clusters,
                        const Shortlists& shortlists, TensorView dlogits);
  /// Sets dlog_scores [E] of the graph's edges. After cluster_gradient.
  void edge_gradient(const Context& context, const LabelGraphView& graph,
                     const Shortlists& shortlists, std::span<float> dlog_scores) const;

 private:
  /// How a label of a point was found.
  struct Positive {
    float score = 0;  // 0: it was not
    float target = 0;
    int32_t edge = 0;
    int32_t slot = 0;
  };

  void lay_out(const ClusterScores& clusters, const ExploreOptions& options,
               const BatchLabels& labels);
  void list_clusters(size_t i, const ExploreOptions& options, const ClusterScores& clusters,
                     const BatchLabels& labels);
  void sort_by_slot(size_t i, const Shortlists& shortlists);
  std::unique_ptr<LabelSearch> borrow_search(Isa isa);
  void give_back(std::unique_ptr<LabelSearch> search);

  int64_t label_count_;
  float positive_weight_ = 0;
  // The lists of explored clusters, point after point: point i's begin at list_begin_[i].
  std::vector<int64_t> list_begin_;  // [N + 1], by the room each may need
  std::vector<int32_t> list_sizes_;  // [N]
  std::vector<int32_t> clusters_;
  std::vector<float> scores_;
  std::vector<float> gradients_;         // of the logs of the scores
  std::vector<int32_t> entry_begin_;     // where the entries of a slot begin in by_slot_
  std::vector<int32_t> by_slot_;         // [N * K] places of each shortlist, sorted by slot
  std::vector<int64_t> positive_begin_;  // [N + 1]
  std::vector<Positive> positives_;

  std::mutex mutex_;
  std::vector<std::unique_ptr<LabelSearch>> searches_;  // not in use
};

}  // namespace elias
