// Lists of labels for the ranker to learn from, found by models that did not see the points.
//
// A model finds more of the true labels, and other wrong ones, for the points it learned from than
// for any others. So points can be dealt into folds: a model that learns from the points outside a
// fold finds the labels of those inside. Such a model lasts no longer than its training; what it
// found is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/csr.h"
#include "data/io/safetensors.h"
#include "ops/context.h"
#include "train/settings.h"
#include "train/trainer.h"

namespace elias {

/// The fold of each point, [points] numbers below `folds`: a function of the seed. No fold has two
/// points more than another.
std::vector<uint8_t> deal_folds(size_t points, size_t folds, uint64_t seed);

/// Trains the model of a fold below settings.ranker_folds, with the seed that is 1 + `fold` above
/// that of the settings. Held-out points, from which all folds are apart, choose it. Whenever it is
/// worth keeping, keep_lists(found) gets the labels found for the points of the fold, in their
/// order: [n x L]; hooks.keep is not called. The rest is as in train().
Outcome train_fold(const Context& context, const Settings& settings, const TrainingData& data,
                   size_t fold, TrainingHooks hooks,
                   const std::function<void(const Csr& found)>& keep_lists,
                   std::optional<SafetensorsFile> resume);

/// Lists as a file, without scores, which the ranker does not ask for. `found` must stay until the
/// file is written.
SafetensorsWriter fold_file(const Csr& found);

/// The lists of all points [points x labels], from the files of all folds. Throws InputError if
/// these are of other folds.
Csr join_folds(std::span<const SafetensorsFile> files, size_t points, uint64_t labels,
               uint64_t seed);

}  // namespace elias
