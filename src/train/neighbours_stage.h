// What follows when a model without clusters is trained and has many labels: the graph by which
// they are found, and how widely it must be searched to find nearly all of the best.
#pragma once

#include <cstdint>
#include <optional>

#include "index/neighbour_graph.h"
#include "model/predictor.h"
#include "ops/context.h"
#include "train/settings.h"
#include "train/trainer.h"

namespace elias {

struct LearnedNeighbours {
  NeighbourGraph graph;
  int64_t ef = 0;
};

/// Builds the graph of a member's labels. Where settings.ef is open, ef is the smallest of some
/// with which a search finds 97 % of the exact 100 best, on a sample of the held-out points (of the
/// training points where there are none), or the largest of them. Empty if hooks.stop() said so:
/// nothing is kept, and the graph is built anew.
std::optional<LearnedNeighbours> learn_neighbours(const Context& context, const Settings& settings,
                                                  const TrainingData& data, const Member& member,
                                                  const TrainingHooks& hooks);

}  // namespace elias
