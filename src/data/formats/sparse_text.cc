// Sparse numbers as text: the XMC repository's "l,l f:v f:v" and single matrices of "c:v c:v".
//
// This is the inner loop of reading, so a row is parsed in one pass over its bytes; error messages
// are put together out of line.
#include <cmath>

#include "base/errors.h"
#include "data/formats/block_parser.h"
#include "data/io/numbers.h"

namespace elias {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

class SparseRowParser : public BlockParser {
 public:
  using BlockParser::BlockParser;

 protected:
  /// The word of `row` that `p` points into or at, for messages.
  static std::string_view word_at(std::string_view row, const char* p) {
    const char* begin = p;
    while (begin > row.data() && !is_blank(begin[-1])) --begin;
    const char* end = p;
    while (end < row.data() + row.size() && !is_blank(*end)) ++end;
    return {begin, static_cast<size_t>(end - begin)};
  }

  /// Reads "id:value" and the blank behind it.
  void take_pair(std::string_view row, const char*& p, uint64_t& id, float& value,
                 uint64_t line) const {
    const char* const start = p;
    const char* const end = row.data() + row.size();
    if (!parse_integer(p, end, id) || p == end || *p != ':') fail_pair(row, start, line);
    take_value(row, start, p, value, line);
  }

  /// Reads ":value" and checks what follows.
  void take_value(std::string_view row, const char* start, const char*& p, float& value,
                  uint64_t line) const {
    const char* const end = row.data() + row.size();
    ++p;  // the colon
    if (!parse_real(p, end, value) || (p < end && !is_blank(*p))) fail_pair(row, start, line);
    if (!std::isfinite(value)) {
      throw InputError("{}: the value in {} is not a finite number: mend or remove it", at(line),
                       shown(word_at(row, start)));
    }
  }

  [[noreturn]] void fail_pair(std::string_view row, const char* p, uint64_t line) const {
    throw InputError("{}: {} is not id:value with an id of 0 or more and a number: mend the line",
                     at(line), shown(word_at(row, p)));
  }
};

class SparseParser : public SparseRowParser {
 public:
  using SparseRowParser::SparseRowParser;

  void parse(const LineBlock& block, ParsedBlock& out) const override {
    std::string_view left = block.bytes;
    for (uint64_t line = block.first_line; !left.empty(); ++line) {
      parse_row(take_line(left), out, line);
      out.finish_row(line, true);
    }
  }

 private:
  void parse_row(std::string_view row, ParsedBlock& out, uint64_t line) const {
    const char* p = row.data();
    const char* const end = p + row.size();
    if (p < end && !is_blank(*p)) take_labels(row, p, out, line);
    while (true) {
      while (p < end && is_blank(*p)) ++p;
      if (p == end) return;
      uint64_t id = 0;
      float value = 0;
      take_pair(row, p, id, value, line);
      add_feature(out, id, value, line);
    }
  }

  // The first word holds labels; if a colon follows its first number it is a feature and the row
  // has no labels.
  void take_labels(std::string_view row, const char*& p, ParsedBlock& out, uint64_t line) const {
    const char* const end = row.data() + row.size();
    while (true) {
      uint64_t id = 0;
      if (!parse_integer(p, end, id)) fail_labels(row, line);
      if (p < end && *p == ':' &&
          out.points.labels.nonzeros() == out.points.labels.offsets.back()) {
        float value = 0;
        take_value(row, row.data(), p, value, line);
        return add_feature(out, id, value, line);
      }
      add_label_id(out, id, 1.0f, line);
      if (p == end || is_blank(*p)) return;
      if (*p != ',') fail_labels(row, line);
      ++p;
    }
  }

  [[noreturn]] void fail_labels(std::string_view row, uint64_t line) const {
    throw InputError(
        "{}: the labels {} are not ids of 0 or more separated by commas: start a line without "
        "labels "
        "with a blank",
        at(line), shown(word_at(row, row.data())));
  }
};

class MatrixParser : public SparseRowParser {
 public:
  MatrixParser(ParseRules rules, bool as_labels)
      : SparseRowParser(std::move(rules)), as_labels_(as_labels) {}

  void parse(const LineBlock& block, ParsedBlock& out) const override {
    std::string_view left = block.bytes;
    for (uint64_t line = block.first_line; !left.empty(); ++line) {
      parse_row(take_line(left), out, line);
      out.finish_row(line, !as_labels_);
    }
  }

 private:
  void parse_row(std::string_view row, ParsedBlock& out, uint64_t line) const {
    const char* p = row.data();
    const char* const end = p + row.size();
    while (true) {
      while (p < end && is_blank(*p)) ++p;
      if (p == end) return;
      uint64_t id = 0;
      float value = 0;
      take_pair(row, p, id, value, line);
      if (as_labels_) {
        add_label_id(out, id, value, line);
      } else {
        add_feature(out, id, value, line);
      }
    }
  }

  bool as_labels_;
};

}  // namespace

std::unique_ptr<BlockParser> make_sparse_parser(ParseRules rules) {
  return std::make_unique<SparseParser>(std::move(rules));
}

std::unique_ptr<BlockParser> make_matrix_parser(ParseRules rules, bool as_labels) {
  return std::make_unique<MatrixParser>(std::move(rules), as_labels);
}

}  // namespace elias
