// What `elias fit` says: what it found and will do, how far it is, and what came of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/machine_memory.h"
#include "base/progress.h"
#include "base/stopwatch.h"
#include "metrics/evaluate.h"
#include "text/wordpiece.h"
#include "train/settings.h"
#include "train/trainer.h"
#include "train/training_points.h"

namespace elias {

/// Prints `text` to standard output at once. Where nobody reads that any more, it is lost, and all
/// that follows.
void say(const std::string& text);

/// The data, what was left out of it, and the settings that follow.
std::string fit_summary(const std::string& train, const TrainingPoints& points,
                        const Settings& settings);

/// A warning if the vocabulary has no pieces for many words; else empty.
std::string unknown_words_line(const WordPieceConfig& words, const TokenRows& texts);

/// A line on the memory the run will take. Throws InputError, naming what to lower, if the machine
/// does not have as much.
std::string memory_line(const MemoryEstimate& estimate, const Settings& settings,
                        const MachineMemory& memory);

/// The line on the terminal, and one on standard output at the end of each epoch, of a graph's
/// construction and of the ranker's training.
class FitDisplay {
 public:
  void progress(const TrainingProgress& progress);
  /// The event "hnsw" has labels, neighbours, ef, recall (of so many as depth) and seconds; "epoch"
  /// has stage, member (of an ensemble: "member 2/3") or fold, epoch, epochs,
  /// loss, and figures of held-out points as shares, named as in Evaluation ("P@1"), or
  /// held_out_loss and held_out_accuracy, of masked words.
  void event(const std::string& event, const nlohmann::ordered_json& fields);

 private:
  /// A moment from which speed and the time left are reckoned.
  struct Mark {
    Stopwatch time;
    std::string stage;
    int64_t epoch = 0, point = 0;
    double share = 0;
  };
  StatusLine line_;
  Mark run_, epoch_;  // where this process, or the ranker, began; where the epoch did
  double share_ = 0;  // told last
};

/// The figures people compare, on one line.
std::string figures_line(const Evaluation& evaluation);

}  // namespace elias
