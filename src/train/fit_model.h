// A whole training run in its folder: the models of folds, if there are any; the members of an
// ensemble one after the other, or the one model there is; their graphs of neighbours, where labels
// are found so; then the ranker. What is stopped, or
// killed, goes on where it was.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "model/model.h"
#include "train/run_folder.h"
#include "train/settings.h"
#include "train/trainer.h"
#include "train/training_points.h"

namespace elias {

struct FitOptions {
  LabelStorage storage = LabelStorage::kFloat32;
  double checkpoint_minutes = 5;  // from one checkpoint to the next
};

struct FitHooks {
  /// Asked often: true ends the run after a checkpoint.
  std::function<bool()> stop;
  std::function<void(const TrainingProgress&)> progress;
  /// What is written to the run's log.
  std::function<void(const std::string& event, const nlohmann::ordered_json& fields)> log;
};

/// What tells a run from others in its folder (train/run_folder.h).
nlohmann::ordered_json run_identity(const Settings& settings, const TrainingPoints& points,
                                    LabelStorage storage);

/// `settings` must be resolved, and the run begun. Leaves the model as the run's best.
Outcome fit_model(const Context& context, RunFolder& folder, const Settings& settings,
                  const TrainingPoints& points, const FitOptions& options, const FitHooks& hooks);

}  // namespace elias
