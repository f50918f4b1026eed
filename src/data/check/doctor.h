// The data doctor behind `elias check`: what is in these files, and what is odd about them.
//
// Files are streamed: what is kept of a point is a 64-bit fingerprint of its content, so memory is
// a fraction of the text. The first file is the training set; the others are held against it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/check/suspicions.h"
#include "data/label_deciles.h"
#include "data/label_space.h"
#include "data/point_reader.h"

namespace elias {

/// How often something was seen, and the line (or row, in binary files) where it was first.
struct Finding {
  uint64_t count = 0;
  uint64_t first = 0;
  void add(uint64_t where) {
    if (count++ == 0) first = where;
  }
};

struct FileReport {
  SourceInfo info;
  uint64_t points = 0;

  uint64_t positives = 0;    // (point, label) pairs
  uint64_t labels_used = 0;  // labels with a point in this file
  uint64_t most_labels = 0;  // of one point
  bool graded = false;       // some relevance is not 1
  Finding without_labels;
  uint64_t repeated_labels = 0;  // stood twice in one row

  uint64_t features = 0;  // width of the feature matrix
  uint64_t feature_values = 0;
  Finding without_features;
  uint64_t repeated_features = 0;

  uint64_t text_bytes = 0, words = 0, longest_text = 0;
  Finding without_text;
  std::array<Finding, kSuspicions> suspicions{};

  uint64_t duplicates_within = 0;               // points whose content stood in this file before
  std::array<uint64_t, 2> duplicate_example{};  // lines of such a pair
  uint64_t duplicates_of_earlier_files = 0;     // points whose content stands in a file before this
  uint64_t unseen_labels = 0;                   // labels of this file without a training point
  uint64_t unseen_positives = 0;                // pairs that fall on them
};

struct CheckReport {
  std::vector<FileReport> files;
  uint64_t labels = 0;  // size of the label space
  uint64_t labels_without_training = 0;
  uint64_t repeated_names = 0;  // names that stand more than once in the label file
  uint64_t empty_names = 0;     // empty lines in it
  uint64_t padded_names = 0;    // names with a blank at either end
  std::string padded_example;
  LabelDeciles deciles;  // by frequency in the first file
};

class DataDoctor {
 public:
  explicit DataDoctor(ThreadPool& pool) : pool_(pool) {}

  /// Reads `reader` to its end.
  void examine(PointReader& reader);

  /// The report on all files so far.
  CheckReport finish(const LabelSpace& labels);

 private:
  struct Fingerprint {
    uint64_t hash, where;
    bool operator<(const Fingerprint& other) const {
      return hash != other.hash ? hash < other.hash : where < other.where;
    }
  };
  struct FileState {
    FileReport report;
    std::vector<uint64_t> label_counts;
    std::vector<Fingerprint> fingerprints;  // sorted once the file is read
  };

  void add_batch(const PointBatch& batch, FileState& state);
  static void add_labels(const CsrRow& labels, uint64_t where, FileState& state);
  static void find_duplicates(FileState& state);
  uint64_t count_in_earlier_files(size_t file) const;

  ThreadPool& pool_;
  std::vector<FileState> files_;
};

}  // namespace elias
