// The stages of a run in their order, and how far one is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/settings.h"

namespace elias {

/// Before stage 1, whose clusters are of what was learned, comes a short stage 1 with clusters of
/// the words alone; or epochs without an index, which are all that one-vs-all has. An embedding
/// classifier has one stage.
enum class StageKind : uint8_t { kWarm, kStage1, kStage2, kOva, kGlas };

struct Stage {
  StageKind kind{};
  int64_t epochs = 0;
  Rates rates;

  /// "short stage 1", "stage 1", "stage 2", "one-vs-all", "glas".
  std::string name() const;
  /// True of those with clusters of labels.
  bool has_index() const { return kind != StageKind::kOva && kind != StageKind::kGlas; }
};

/// Those with at least one epoch.
std::vector<Stage> stages_of(const Settings& settings);

/// Where a run is: before batch `batch` of epoch `epoch` (both from 0) of stage `stage`; after its
/// last epoch, before the next stage begins.
struct Position {
  int64_t stage = 0;
  int64_t epoch = 0;
  int64_t batch = 0;
};

/// The points [0, N) in the order of one epoch: a function of the seed, the stage and the epoch.
std::vector<uint32_t> epoch_order(int64_t N, uint64_t seed, int64_t stage, int64_t epoch);

}  // namespace elias
