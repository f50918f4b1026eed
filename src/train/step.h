// One batch of training: forward, losses, backward, and the steps of all parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/csr.h"
#include "encoder/points.h"
#include "head/embedding_losses.h"
#include "head/label_losses.h"
#include "head/sampled_losses.h"
#include "index/exploration.h"
#include "ops/context.h"
#include "train/network.h"
#include "train/settings.h"

namespace elias {

/// Where a batch stands in its stage, and which random numbers it takes.
struct StepPosition {
  int64_t step = 0;          // from 1, in the stage
  int64_t steps = 1;         // of the stage
  int64_t steps_before = 0;  // in earlier stages
  int64_t run_steps = 1;     // of all stages
  uint64_t stream = 0;       // never the same for two batches of a run
};

/// Sums over the points of batches.
struct StepSums {
  int64_t points = 0;
  double on_p = 0, on_z = 0, shortlist = 0, regulariser = 0;  // the losses, as they are weighted
  int64_t positives = 0, missed = 0;

  void add(const StepSums& other);
  /// The whole loss, a point.
  double loss() const;
};

class TrainingStep {
 public:
  /// All must outlive the object.
  TrainingStep(const Context& context, const Settings& settings, const PointsView& points,
               const Csr& labels, Network& network);

  /// parents [L] of the labels: those clusters are explored for a point in any case.
  StepSums run(std::span<const uint32_t> points, std::span<const int32_t> parents,
               const StepPosition& position);

 private:
  struct Heads {
    Tensor logits, scores, log_sums, best_values, best;  // of clusters
    Tensor dlogits;
    Shortlists shortlists;
    std::vector<float> dlog_scores;  // [E]
    Tensor rounded_labels;           // [L, D], W_L in bfloat16 where a batch uses it
    double regulariser = 0;          // its loss on the batch
  };

  ClusterScores score_clusters(ConstTensorView phi);
  StepSums heads_backward(std::span<const uint32_t> points, std::span<const int32_t> parents,
                          const StepPosition& position, ConstTensorView phi, TensorView dphi);
  StepSums embeddings_backward(const BatchLabels& labels, const StepPosition& position,
                               ConstTensorView phi, TensorView dphi);
  EmbeddingSums drawn_embeddings_backward(const BatchLabels& labels, const DrawnLabels& drawn,
                                          const StepPosition& position, ConstTensorView phi,
                                          TensorView dphi);
  LossSums labels_backward(const LabelLossOptions& options, const StepPosition& position,
                           ConstTensorView phi, const BatchLabels& labels, TensorView dphi);
  std::vector<int32_t> regularised_labels(const BatchLabels& labels, const DrawnLabels& drawn,
                                          const StepPosition& position) const;
  Tensor regularise(std::span<const int32_t> labels, ConstTensorView phi, TensorView dphi);
  void clusters_backward(const ClusterScores& clusters, ConstTensorView phi, TensorView dphi);
  float index_share(const StepPosition& position) const;
  float share(const StepPosition& position, int64_t every) const;

  const Context& context_;
  const Settings& settings_;
  PointsView points_;
  const Csr& labels_;
  Network& network_;
  Precision precision_;
  Csr similarity_;  // [L x L], if the regulariser needs it
  Exploration exploration_;
  Heads heads_;
};

}  // namespace elias
