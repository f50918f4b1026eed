// Reads any text format: blocks of lines are parsed on all threads, in waves, and handed out in
// file order.
//
// While one wave is parsed the next is read (and inflated) as one more task beside it, so a gzip
// file costs the longer of the two, not their sum. Whatever fails is thrown when its block's turn
// comes: the error is that of the first bad line, whatever the number of threads.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "data/formats/block_parser.h"
#include "data/io/line_reader.h"
#include "data/point_reader.h"

namespace elias {

class LinePointReader : public PointReader {
 public:
  /// `info` says what the header promised; with `skip_header` it is still the first line. `form` is
  /// kUnknown where the first label is to tell. With `as_it_comes` nothing is read ahead.
  LinePointReader(SourceInfo info, std::unique_ptr<LineReader> lines,
                  std::unique_ptr<BlockParser> parser, LabelForm form, bool skip_header,
                  bool as_it_comes, LabelSpace& labels, ThreadPool& pool);

  bool next(PointBatch& batch) override;

 private:
  struct Task {
    LineBlock lines;
    ParsedBlock parsed;
    std::exception_ptr failure;
  };

  void refill();
  std::vector<Task> read_wave();
  void resolve_names(ParsedBlock& block);
  void take(Task& task, PointBatch& batch);
  void check_rows(const PointBatch& batch) const;
  void check_end() const;

  std::unique_ptr<LineReader> lines_;
  std::unique_ptr<BlockParser> parser_;
  LabelForm form_;
  bool skip_header_;
  bool as_it_comes_;
  LabelSpace& labels_;
  ThreadPool& pool_;
  std::vector<Task> wave_, next_wave_;
  size_t position_ = 0;  // in wave_
  bool started_ = false;
  uint64_t rows_ = 0;
  uint64_t feature_count_ = 0;
};

}  // namespace elias
