#include "data/formats/block_parser.h"

#include <cmath>

#include "base/errors.h"
#include "data/io/numbers.h"
#include "data/io/utf8.h"

namespace elias {

void BlockParser::parse(const LineBlock& block, ParsedBlock& out) const {
  PointBatch& points = out.points;
  if (with_features_) {
    // A guess that holds for most files and saves growing step by step.
    constexpr size_t kBytesPerValue = 8;
    points.features.columns.reserve(block.bytes.size() / kBytesPerValue);
    points.features.values.reserve(block.bytes.size() / kBytesPerValue);
  }
  std::string_view left = block.bytes;
  for (uint64_t line = block.first_line; !left.empty(); ++line) {
    parse_line(take_line(left), line, out);
    points.repeated_labels += points.labels.finish_row(Csr::Repeats::kMaximum);
    if (with_features_) finish_features(points, line);
    points.lines.push_back(line);
  }
}

void BlockParser::finish_features(PointBatch& points, uint64_t line) const {
  const size_t merged = points.features.finish_row(Csr::Repeats::kSum);
  if (merged == 0) return;
  points.repeated_features += merged;
  for (const float value : points.features.row(points.features.rows() - 1).values) {
    if (std::isfinite(value)) continue;
    throw InputError(
        "{}: a feature that stands more than once adds up to more than a number holds: "
        "mend the line",
        at(line));
  }
}

void BlockParser::add_label(ParsedBlock& out, std::string_view label, float value,
                            uint64_t line) const {
  if (rules_.labels_ignored()) return;
  if (out.form == LabelForm::kNames) return add_label_name(out, label, value, line);
  const char* p = label.data();
  uint64_t id = 0;
  if (!parse_integer(p, label.data() + label.size(), id) || p != label.data() + label.size()) {
    fail_no_id(label, line);
  }
  add_label_id(out, id, value, line);
}

void BlockParser::fail_no_id(std::string_view label, uint64_t line) const {
  if (!rules_.label_form_owner.empty()) {
    throw InputError(
        "{}: label {} is not an id (0, 1, 2, ...) as the labels of {} are: give points with ids",
        at(line), shown(label), rules_.label_form_owner);
  }
  throw InputError(
      "{}: label {} is not an id (0, 1, 2, ...) as labels of this file are: mend it, or use "
      "--label-form names",
      at(line), shown(label));
}

void BlockParser::add_label_id(ParsedBlock& out, uint64_t id, float value, uint64_t line) const {
  if (rules_.labels_ignored()) return;
  if (id >= rules_.label_limit) fail_label(id, line);
  // A relevance of 1, the usual case, needs no look.
  if (value != 1.0f) check_label_value(value, std::to_string(id), line);
  // A relevance of zero says that the label does not apply, as its absence does.
  if (value == 0 && rules_.values == ReadOptions::Values::kRelevance) return;
  out.points.labels.columns.push_back(static_cast<uint32_t>(id));
  out.points.labels.values.push_back(value);
}

void BlockParser::fail_label(uint64_t id, uint64_t line) const {
  if (rules_.label_limit_source.empty()) {
    throw InputError(
        "{}: label id {} is too large: ids run from 0 to the number of labels - 1{}", at(line), id,
        rules_.label_form_owner.empty() ? "; use --label-form names if it is a name" : "");
  }
  throw InputError("{}: label {} is beyond the {} labels of {} (ids start at 0): mend one of them",
                   at(line), id, rules_.label_limit, rules_.label_limit_source);
}

void BlockParser::add_label_name(ParsedBlock& out, std::string_view name, float value,
                                 uint64_t line) const {
  if (name.empty()) {
    throw InputError("{}: a label is empty: remove the stray separator", at(line));
  }
  check_label_value(value, name, line);
  if (value == 0 && rules_.values == ReadOptions::Values::kRelevance) return;
  const size_t known = out.names.size();
  const uint32_t index = out.names.intern(name);
  if (index == known) {
    require_utf8(name, at(line));
    out.name_lines.push_back(line);
  }
  out.points.labels.columns.push_back(index);
  out.points.labels.values.push_back(value);
}

std::string BlockParser::or_plain_lines() const {
  if (rules_.lines_argument.empty()) return "";
  return fmt::format("; for plain texts, one a line, use {}", rules_.lines_argument);
}

void BlockParser::add_text(ParsedBlock& out, std::string_view text, uint64_t line) const {
  require_utf8(text, at(line));
  out.points.texts.add(text);
}

void BlockParser::fail_feature(uint64_t id, uint64_t line) const {
  if (rules_.feature_limit_from_header) {
    throw InputError(
        "{}: feature {} is beyond the {} features of the header (ids start at 0): mend one of them",
        at(line), id, rules_.feature_limit);
  }
  throw InputError("{}: feature id {} is too large: ids must be below {}", at(line), id,
                   rules_.feature_limit);
}

void BlockParser::check_label_value(float value, std::string_view label, uint64_t line) const {
  if (!std::isfinite(value)) {
    throw InputError("{}: the value of label {} is not a finite number: mend or remove it",
                     at(line), shown(label));
  }
  if (value < 0 && rules_.values == ReadOptions::Values::kRelevance) {
    throw InputError("{}: the relevance {} of label {} is negative: give a number above 0",
                     at(line), value, shown(label));
  }
}

}  // namespace elias
