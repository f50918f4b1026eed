// What the text formats have in common: a parser turns one block of lines into points, without
// knowing of other blocks, so that blocks can be parsed in any order and on any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/io/line_reader.h"
#include "data/point_reader.h"
#include "data/string_table.h"

namespace elias {

/// Label ids from here on are refused where neither a header nor a label file bounds them: tables
/// of that size would be made for what is most likely a number that is a name.
inline constexpr uint64_t kLabelIdLimit = 10'000'000;
inline constexpr uint64_t kFeatureIdLimit = 0xffffffff;

/// What a parser is told about the file.
struct ParseRules {
  std::string name;  // of the file, for messages
  ReadOptions::Values values = ReadOptions::Values::kRelevance;
  uint64_t label_limit = kLabelIdLimit;  // ids must be below
  std::string label_limit_source;        // who says so: "the header", a label file; or empty
  std::string label_form_owner;          // who decided between ids and names; or empty: the file
  uint64_t feature_limit = kFeatureIdLimit;
  bool feature_limit_from_header = false;
  bool text_optional = false;  // predictions need none
  ReadOptions::Labels labels = ReadOptions::Labels::kNeeded;
  std::string lines_argument;  // as in ReadOptions; empty where it would not help

  bool labels_ignored() const { return labels == ReadOptions::Labels::kIgnored; }
};

struct ParsedBlock {
  LabelForm form = LabelForm::kIds;  // what its labels are; set before parsing
  PointBatch points;                 // label columns are ids, or indices into `names`
  StringTable names;                 // names of this block in order of appearance
  std::vector<uint64_t> name_lines;  // the line each name first stood on
};

class BlockParser {
 public:
  /// `with_features` says whether rows have features, as opposed to texts.
  BlockParser(ParseRules rules, bool with_features)
      : rules_(std::move(rules)), with_features_(with_features) {}
  virtual ~BlockParser() = default;

  void parse(const LineBlock& block, ParsedBlock& out) const;

 protected:
  /// Adds the labels, and the text or the features, of one line.
  virtual void parse_line(std::string_view row, uint64_t line, ParsedBlock& out) const = 0;

  const ParseRules& rules() const { return rules_; }

  /// Adds a label written as text, an id or a name as the rules say, to the row being built.
  void add_label(ParsedBlock& out, std::string_view label, float value, uint64_t line) const;
  void add_label_id(ParsedBlock& out, uint64_t id, float value, uint64_t line) const;
  void add_label_name(ParsedBlock& out, std::string_view name, float value, uint64_t line) const;

  /// Adds the text of the row being built. Throws InputError if it is not UTF-8.
  void add_text(ParsedBlock& out, std::string_view text, uint64_t line) const;

  /// Adds a feature with a finite value to the row being built.
  void add_feature(ParsedBlock& out, uint64_t id, float value, uint64_t line) const {
    if (id >= rules_.feature_limit) fail_feature(id, line);
    out.points.features.columns.push_back(static_cast<uint32_t>(id));
    out.points.features.values.push_back(value);
  }

  /// What to say of a line that is not of the guessed format: it may be a plain text.
  std::string or_plain_lines() const;

  std::string at(uint64_t line) const { return place(rules_.name, line); }

 private:
  void finish_features(PointBatch& points, uint64_t line) const;
  /// Throws InputError unless `value` may be a label's value.
  void check_label_value(float value, std::string_view label, uint64_t line) const;
  [[noreturn]] void fail_no_id(std::string_view label, uint64_t line) const;
  [[noreturn]] void fail_label(uint64_t id, uint64_t line) const;
  [[noreturn]] void fail_feature(uint64_t id, uint64_t line) const;

  ParseRules rules_;
  bool with_features_;
};

// One parser a format, each in its own file.
std::unique_ptr<BlockParser> make_tsv_parser(ParseRules rules);
std::unique_ptr<BlockParser> make_fasttext_parser(ParseRules rules);
std::unique_ptr<BlockParser> make_json_lines_parser(ParseRules rules);
std::unique_ptr<BlockParser> make_sparse_parser(ParseRules rules);
/// One text a line and no labels.
std::unique_ptr<BlockParser> make_lines_parser(ParseRules rules);
/// Rows of column:value. They are labels where `as_labels`, else features.
std::unique_ptr<BlockParser> make_matrix_parser(ParseRules rules, bool as_labels);

}  // namespace elias
