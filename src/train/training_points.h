// From the points a user gives, in files or in memory, to what training takes: features, labels and
// settings.
//
// Texts become tf-idf features, learned from all texts of the training file; features that come
// with the points are scaled to unit length, as those are. Points without labels teach nothing
// and are left out. Where there is no file of held-out points, some of the training points are
// held out, chosen by the seed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/label_space.h"
#include "data/point_reader.h"
#include "encoder/token_input.h"
#include "text/tfidf.h"
#include "train/settings.h"
#include "train/trainer.h"

namespace elias {

struct TrainingFiles {
  std::string train;
  std::string dev;  // empty: held-out points are taken from `train`
  ReadOptions reading;
};

struct TrainingPoints {
  LabelSpace labels;
  std::optional<Tfidf> tfidf;        // none: points came with features
  std::optional<TokenInput> tokens;  // of a transformer; else none
  TrainingData data;
  /// Sizes and a hash of the files' points and labels as they were read, whatever the settings:
  /// what makes the data of two runs the same.
  nlohmann::ordered_json fingerprint;
  DataSizes sizes;                     // of the points with labels, held-out ones included
  std::vector<uint64_t> label_counts;  // [L], of the same points
  uint64_t unlabelled = 0;             // points of `train` left out
  uint64_t unlabelled_dev = 0;         // points of `dev` left out
  uint64_t unknown_features = 0;       // entries of `dev` beyond the features of `train`, left out
};

/// Reads the files and resolves `settings` by their sizes. `labels` has the label file's names, or
/// is open. Throws InputError on files that do not fit together or have nothing to learn from.
TrainingPoints read_training_points(const TrainingFiles& files, LabelSpace labels,
                                    Settings& settings, ThreadPool& pool);

/// The same of points that are in memory. `labels` is the space that their ids are of.
TrainingPoints make_training_points(Dataset train, std::optional<Dataset> dev, LabelSpace labels,
                                    Settings& settings, ThreadPool& pool);

/// Which `count` of `points` points are held out: rising, the same for the same seed.
std::vector<size_t> held_out_points(size_t points, size_t count, uint64_t seed);

}  // namespace elias
