// Files of labelled points, whatever their format, as a stream of batches.
//
// The caller sees rows in file order; behind it blocks of lines are parsed on all threads. Memory
// is one wave of blocks, not the file. docs/formats.md describes every format and what is refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "data/format.h"
#include "data/io/byte_source.h"
#include "data/label_space.h"
#include "data/text_rows.h"

namespace elias {

/// Consecutive points of a file. Which members are filled is said by SourceInfo.
struct PointBatch {
  TextRows texts;                  // N texts, or none
  Csr features;                    // N x D, or no rows
  Csr labels;                      // N x L, values are relevances (1 unless graded)
  std::vector<uint64_t> lines;     // N line numbers from 1; empty for binary files
  uint64_t repeated_labels = 0;    // labels that stood twice in a row, merged (largest value)
  uint64_t repeated_features = 0;  // features that stood twice in a row, merged (sum)

  size_t rows() const { return labels.rows(); }
};

/// What is known of a file before its rows are read.
struct SourceInfo {
  std::string name;  // for messages: the path, or "standard input"
  Format format{};
  bool has_text = false;
  bool has_features = false;
  std::optional<uint64_t> promised_rows, promised_features, promised_labels;  // the header's
};

struct ReadOptions {
  std::optional<Format> format;                // empty: recognised from the content
  LabelForm label_form = LabelForm::kUnknown;  // likewise
  /// What a label's value is: a relevance (at least 0; zeros are dropped) or any finite score.
  enum class Values { kRelevance, kScore } values = Values::kRelevance;
  /// Where labels are not needed, a file need have none: it may be the X of a pair, plain lines
  /// among them. Those that it has are read as ever, or else dropped, whatever they are.
  enum class Labels { kNeeded, kOptional, kIgnored } labels = Labels::kNeeded;
  /// For jobs that take texts alone, the argument that insists on plain lines ("--format lines"):
  /// numbers are then guessed to be texts, not features, and errors of a guessed format name it.
  std::string_view lines_argument = "";  // a literal
  /// Hands out lines as soon as they are there, one block at a time: for input that someone types,
  /// or a program writes who waits for the answer.
  bool as_it_comes = false;
  size_t block_bytes = size_t{1} << 20;  // parsed at a time; tests make it small
};

class PointReader {
 public:
  virtual ~PointReader() = default;
  const SourceInfo& info() const { return info_; }

  /// Fills `batch` with the next points; false at the end. Throws InputError on malformed input.
  virtual bool next(PointBatch& batch) = 0;

 protected:
  SourceInfo info_;
};

/// Opens `path`: a file, "-" for standard input, or a pair "X,Y" (features or texts, and labels).
/// `labels` and `pool` must outlive the reader; `labels` grows as rows are read.
std::unique_ptr<PointReader> open_points(const std::string& path, const ReadOptions& options,
                                         LabelSpace& labels, ThreadPool& pool);

/// The same from bytes that need no path; no pairs.
std::unique_ptr<PointReader> open_points(std::unique_ptr<ByteSource> source,
                                         const ReadOptions& options, LabelSpace& labels,
                                         ThreadPool& pool);

/// A whole file in memory. All three matrices have the width the label space and header give.
struct Dataset {
  SourceInfo info;
  TextRows texts;
  Csr features;
  Csr labels;

  size_t rows() const { return labels.rows(); }
};

Dataset read_dataset(const std::string& path, const ReadOptions& options, LabelSpace& labels,
                     ThreadPool& pool);

}  // namespace elias
