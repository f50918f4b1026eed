// The staged training of a model: the only place that knows the order of the stages.
//
//   clusters on the bag of words -> a short stage 1 -> clusters on [phi, bag of words] -> stage 1
//   -> label graph -> stage 2                            (ELIAS, section 3.4; each step optional)
//
// Where classifiers learn to reject all labels, epochs of one-vs-all take the place of the first
// two.
//
// It knows no files. What it wants kept or said goes through TrainingHooks; a run that was stopped
// goes on from what it last gave to `checkpoint`, and ends in the same bits as one that was not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "data/csr.h"
#include "data/io/safetensors.h"
#include "encoder/points.h"
#include "encoder/pretrained.h"
#include "model/predictor.h"
#include "ops/context.h"
#include "train/settings.h"

namespace elias {

/// Points to learn from, and held-out ones to choose by; both over the same features and labels.
struct TrainingData {
  Csr features;  // N x V
  Csr labels;    // N x L
  Csr held_out_features;
  Csr held_out_labels;
  TokenRows tokens = {}, held_out_tokens = {};         // of a transformer; else without rows
  std::shared_ptr<const Pretrained> transformer = {};  // what it starts with; null: a bag

  PointsView points() const { return {features, tokens}; }
  PointsView held_out() const { return {held_out_features, held_out_tokens}; }
};

/// Where a run is.
struct TrainingProgress {
  std::string stage;              // "stage 1"
  int64_t epoch = 0, epochs = 0;  // of the stage, from 1
  int64_t point = 0, points = 0;  // of the epoch
  double loss = 0;                // a point of the epoch so far
  double share = 0;               // of the whole run's work that is done, roughly
};

struct TrainingHooks {
  /// Asked between batches: true ends the run after a checkpoint.
  std::function<bool()> stop;
  std::function<void(const TrainingProgress&)> progress;
  /// One line of the log.
  std::function<void(const std::string& event, const nlohmann::ordered_json& fields)> log;
  /// Asked between batches: is it time to save one?
  std::function<bool()> checkpoint_due;
  /// All state of the run. The bytes stay until the call returns.
  std::function<void(const SafetensorsWriter&)> checkpoint;
  /// A model good enough to keep: the best on held-out points so far, or the last where there are
  /// none. Views into the trainer, valid during the call.
  std::function<void(const Member&)> keep;
};

enum class Outcome : uint8_t { kFinished, kStopped };

/// `settings` must be resolved. `resume` is what `checkpoint` last got, verified, or null. Throws
/// InputError if it is of another run.
Outcome train(const Context& context, const Settings& settings, const TrainingData& data,
              const TrainingHooks& hooks, std::optional<SafetensorsFile> resume);

}  // namespace elias
