// JSON lines in two forms.
//
//   {"text": "...", "labels": ["a", "b"]}             or "title" and "content" in place of "text";
//   {"text": "...", "labels": {"a": 1, "b": 0.5}}     graded
//   {"uid": "...", "title": "...", "content": "...", "target_ind": [3, 7], "target_rel": [1, 0.5]}
//
// Labels are strings (names) or whole numbers (ids). "scores" holds the values of "labels" in
// predictions, as "target_rel" does of "target_ind". Other keys are passed over.
#include "data/formats/json_lines.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "base/errors.h"
#include "data/formats/block_parser.h"
#include "data/io/utf8.h"

namespace elias {
namespace {

struct Record {
  using Label = std::variant<uint64_t, std::string>;
  std::optional<std::string> text, title, content;
  std::vector<Label> labels;
  std::vector<double> values;
  bool has_labels = false, has_values = false;
};

// Fills a Record from the parser's events. A handler returns false to stop, with `problem` set.
class RecordBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit RecordBuilder(Record& record) : record_(record) {}
  const std::string& problem() const { return problem_; }

  bool null() override { return scalar("null"); }
  bool boolean(bool) override { return scalar("true or false"); }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value), std::nullopt);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value), value);
  }
  bool number_float(number_float_t value, const string_t&) override {
    return number(value, std::nullopt);
  }
  bool binary(binary_t&) override { return scalar("binary data"); }

  bool string(string_t& value) override {
    if (auto* field = text_field(); field != nullptr && depth_ == 1) {
      *field = std::move(value);
      return true;
    }
    if (in_labels()) {
      record_.labels.emplace_back(std::move(value));
      return true;
    }
    return scalar("a string");
  }

  bool start_object(size_t) override {
    ++depth_;
    if (depth_ == 1) return true;
    if (depth_ == 2 && key_ == "labels") {
      if (record_.has_labels) return stop("labels are given twice");
      graded_ = record_.has_labels = record_.has_values = true;
      return true;
    }
    return nested("an object");
  }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override {
    ++depth_;
    if (depth_ == 1) return stop("the line is a list, not an object in braces");
    if (depth_ == 2 && is_label_key()) return note(record_.has_labels, "labels are given twice");
    if (depth_ == 2 && is_value_key()) return note(record_.has_values, "values are given twice");
    return nested("a list");
  }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    if (depth_ == 1) {
      key_ = std::move(name);
    } else if (depth_ == 2 && graded_) {
      record_.labels.emplace_back(std::move(name));
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return stop(fmt::format("the line is not JSON from byte {} on", position));
  }

 private:
  bool is_label_key() const { return key_ == "labels" || key_ == "target_ind"; }
  bool is_value_key() const { return key_ == "target_rel" || key_ == "scores"; }
  bool in_labels() const { return depth_ == 2 && is_label_key() && !graded_; }

  std::optional<std::string>* text_field() {
    if (key_ == "text") return &record_.text;
    if (key_ == "title") return &record_.title;
    if (key_ == "content") return &record_.content;
    return nullptr;
  }

  bool number(double value, std::optional<uint64_t> whole) {
    if (depth_ == 2 && (is_value_key() || graded_)) {
      record_.values.push_back(value);
      return true;
    }
    if (in_labels() && whole) {
      record_.labels.emplace_back(*whole);
      return true;
    }
    return scalar(fmt::format("the number {}", value));
  }

  // Notes that something is there; it must not have been there before.
  bool note(bool& seen, const char* problem) {
    if (seen) return stop(problem);
    return seen = true;
  }

  // A scalar where none is looked for: fine under a key we pass over, wrong under ours.
  bool scalar(const std::string& what) {
    if (depth_ == 0) return stop("the line is not an object in braces");
    const bool ours = text_field() != nullptr || is_label_key() || is_value_key();
    if (!ours || (depth_ == 1 && text_field() != nullptr && what == "null")) return true;
    return stop(fmt::format("\"{}\" holds {}", key_, what));
  }

  bool nested(const std::string& what) {
    const bool ours = text_field() != nullptr || is_label_key() || is_value_key();
    return ours ? stop(fmt::format("\"{}\" holds {}", key_, what)) : true;
  }

  bool leave() {
    --depth_;
    if (depth_ == 1) graded_ = false;
    return true;
  }

  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  Record& record_;
  std::string key_, problem_;
  int depth_ = 0;
  bool graded_ = false;  // inside "labels": {...}
};

// The text is "text", or title and content with a blank between.
std::optional<std::string> text_of(Record& record) {
  if (record.text) return std::move(record.text);
  if (!record.title || !record.content) {
    return record.title ? std::move(record.title) : std::move(record.content);
  }
  return *record.title + " " + *record.content;
}

class JsonLinesParser : public BlockParser {
 public:
  explicit JsonLinesParser(ParseRules rules) : BlockParser(std::move(rules), false) {}

 protected:
  void parse_line(std::string_view row, uint64_t line, ParsedBlock& out) const override {
    require_utf8(row, at(line));
    Record record;
    RecordBuilder builder(record);
    if (!nlohmann::json::sax_parse(row, &builder)) {
      throw InputError(
          "{}: {}: write one object a line, {{\"text\": \"...\", \"labels\": [...]}}{}", at(line),
          builder.problem(), or_plain_lines());
    }
    const bool scored = rules().values == ReadOptions::Values::kScore;
    if (!record.has_labels && rules().labels == ReadOptions::Labels::kNeeded) {
      throw InputError(
          "{}: the object has neither \"labels\" nor \"target_ind\": add one, empty if "
          "the point has no labels",
          at(line));
    }
    if (scored && !record.has_values && !record.labels.empty()) {
      throw InputError("{}: the labels have no scores: add \"scores\": [...]", at(line));
    }
    if (record.has_values && record.values.size() != record.labels.size()) {
      throw InputError("{}: {} labels but {} values: give one for each", at(line),
                       record.labels.size(), record.values.size());
    }
    for (size_t i = 0; i < record.labels.size() && !rules().labels_ignored(); ++i) {
      const auto value = record.has_values ? static_cast<float>(record.values[i]) : 1.0f;
      add(record.labels[i], value, out, line);
    }
    const auto text = text_of(record);
    if (!text && !rules().text_optional) {
      throw InputError("{}: the object has no \"text\" and no \"title\": add one{}", at(line),
                       or_plain_lines());
    }
    out.points.texts.add(text.value_or(""));
  }

 private:
  void add(const Record::Label& label, float value, ParsedBlock& out, uint64_t line) const {
    if (const auto* name = std::get_if<std::string>(&label)) {
      return add_label(out, *name, value, line);
    }
    const uint64_t id = std::get<uint64_t>(label);
    if (out.form == LabelForm::kNames) {
      throw InputError("{}: label {} is a number where labels are names: put it in quotes{}",
                       at(line), id,
                       rules().label_form_owner.empty() ? ", or use --label-form ids" : "");
    }
    add_label_id(out, id, value, line);
  }
};

}  // namespace

LabelForm json_label_form(std::string_view sample) {
  while (!sample.empty()) {
    Record record;
    RecordBuilder builder(record);
    if (!nlohmann::json::sax_parse(take_line(sample), &builder)) return LabelForm::kUnknown;
    if (record.labels.empty()) continue;
    return std::holds_alternative<uint64_t>(record.labels[0]) ? LabelForm::kIds : LabelForm::kNames;
  }
  return LabelForm::kUnknown;
}

std::unique_ptr<BlockParser> make_json_lines_parser(ParseRules rules) {
  return std::make_unique<JsonLinesParser>(std::move(rules));
}

}  // namespace elias
