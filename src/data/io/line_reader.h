// Bytes cut into blocks of whole lines, the unit in which text files are parsed in parallel.
//
// A UTF-8 byte-order mark at the start is skipped; UTF-16 is refused; a line end is "\n" or "\r\n";
// the last line needs none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "data/io/byte_source.h"

namespace elias {

/// Longer lines are refused: they are a missing line end or not text, and would be held in memory.
inline constexpr size_t kLongestLine = size_t{64} << 20;

struct LineBlock {
  std::string bytes;        // whole lines
  uint64_t first_line = 1;  // number of the first one in the file
};

class LineReader {
 public:
  /// Blocks are about `block_bytes` long, at first less, so that a small file costs little. Their
  /// cuts depend on the content and that size alone.
  /// `as_it_comes`: a block ends where the source makes one wait for more, if it holds a line.
  explicit LineReader(std::unique_ptr<ByteSource> source, size_t block_bytes = size_t{1} << 20,
                      bool as_it_comes = false);

  const std::string& name() const { return source_->name(); }

  /// The first block, without taking it: what the format is recognised from.
  const LineBlock& peek();

  /// False at the end of the file.
  bool next(LineBlock& block);

  /// All that is left, as it stands: for files that turn out not to be text.
  std::string take_all();

 private:
  bool read_block(LineBlock& block);
  void fill(std::string& bytes);

  std::unique_ptr<ByteSource> source_;
  size_t block_bytes_, next_block_bytes_;
  bool as_it_comes_;
  std::string carry_;  // the start of a line whose end is not read yet
  uint64_t next_line_ = 1;
  bool at_start_ = true;
  bool ended_ = false;
  LineBlock peeked_;
  bool has_peeked_ = false;
};

/// Takes the first line off `text`, without its line end.
inline std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// "trn.txt:12", the start of a message about a line.
std::string place(const std::string& name, uint64_t line);

}  // namespace elias
