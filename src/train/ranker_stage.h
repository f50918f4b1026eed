// What follows when a model is trained: the sparse ranker learns from the labels found for the
// training points, and the mix of both scores from what they say of held-out points.
//
// A run that was stopped goes on with the labels whose classifiers were not yet learned.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "data/csr.h"
#include "data/io/safetensors.h"
#include "model/model.h"
#include "ops/context.h"
#include "ranker/sparse_ranker.h"
#include "train/settings.h"
#include "train/trainer.h"

namespace elias {

struct LearnedRanker {
  SparseRanker weights;
  ScoreMix mix;

  /// As a part of a model with these settings; views into this object.
  RankerPart part(const Settings& settings, std::span<const uint64_t> label_counts) const;
};

/// The labels that a ranker puts in order, or learns to: those that a predictor without one finds
/// for each point, N x L.
Csr labels_to_rank(const Context& context, const Settings& settings, const Predictor& predictor,
                   const PointsView& points);

/// True if `checkpoint` is of this stage: the model itself is trained.
bool is_ranker_checkpoint(const SafetensorsFile& checkpoint);

/// `settings` must have a ranker, `model` none. find_training_lists(), which is called once, gives
/// the labels found for the training points. `resume` is what hooks.checkpoint last got from here,
/// verified, or null. Empty if hooks.stop() said so, after a checkpoint.
std::optional<LearnedRanker> train_ranker(const Context& context, const Settings& settings,
                                          const TrainingData& data, const Model& model,
                                          const std::function<Csr()>& find_training_lists,
                                          const TrainingHooks& hooks,
                                          const std::optional<SafetensorsFile>& resume);

}  // namespace elias
