// One of the models that a run trains: what its checkpoints, its progress and its log say of it.
#pragma once

#include <cstdint>
#include <string>

#include "data/io/safetensors.h"
#include "train/trainer.h"

namespace elias {

struct RunPart {
  std::string kind;           // "member", of what the model will be; "fold" (train/fold_lists.h)
  uint64_t number, of_kind;   // from 0, and how many there are
  uint64_t before, of_parts;  // trained before it, and in all

  /// "fold 2/3"
  std::string name() const;
  /// True if a checkpoint was saved by hooks_for().
  bool owns(const SafetensorsFile& checkpoint) const;
  /// The same hooks, for this part: a checkpoint has its number, progress is that of the whole run,
  /// and where it is one of several of its kind, all that is told says which.
  TrainingHooks hooks_for(const TrainingHooks& run) const;
};

}  // namespace elias
