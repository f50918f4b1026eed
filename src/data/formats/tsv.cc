// labels<TAB>text. Labels are ids or names separated by commas, each with an optional grade after
// "::"; the field may be empty. Everything behind the first TAB is the text.
#include "base/errors.h"
#include "data/formats/block_parser.h"
#include "data/io/numbers.h"

namespace elias {
namespace {

class TsvParser : public BlockParser {
 public:
  explicit TsvParser(ParseRules rules) : BlockParser(std::move(rules), false) {}

 protected:
  void parse_line(std::string_view row, uint64_t line, ParsedBlock& out) const override {
    const size_t tab = row.find('\t');
    if (tab == std::string_view::npos && !rules().text_optional) {
      throw InputError("{}: no TAB between labels and text in {}: write label,label<TAB>text{}",
                       at(line), shown(row), or_plain_lines());
    }
    if (!rules().labels_ignored()) add_labels(out, row.substr(0, tab), line);
    add_text(out, tab == std::string_view::npos ? "" : row.substr(tab + 1), line);
  }

 private:
  void add_labels(ParsedBlock& out, std::string_view field, uint64_t line) const {
    while (!field.empty()) {
      const size_t comma = field.find(',');
      add_graded(out, field.substr(0, comma), line);
      if (comma == std::string_view::npos) return;
      field.remove_prefix(comma + 1);
      if (field.empty()) {
        throw InputError("{}: a comma ends the labels: remove it", at(line));
      }
    }
  }

  // The grade stands behind the last "::", so a name may hold "::" itself when a grade follows.
  void add_graded(ParsedBlock& out, std::string_view label, uint64_t line) const {
    const size_t mark = label.rfind("::");
    if (mark == std::string_view::npos) {
      if (rules().values == ReadOptions::Values::kScore) {
        throw InputError("{}: label {} has no score: write name::0.8", at(line), shown(label));
      }
      return add_label(out, label, 1.0f, line);
    }
    const char* p = label.data() + mark + 2;
    const char* const end = label.data() + label.size();
    float grade = 0;
    if (!parse_real(p, end, grade) || p != end) {
      throw InputError("{}: the grade of label {} is not a number: write name::0.8", at(line),
                       shown(label));
    }
    add_label(out, label.substr(0, mark), grade, line);
  }
};

}  // namespace

std::unique_ptr<BlockParser> make_tsv_parser(ParseRules rules) {
  return std::make_unique<TsvParser>(std::move(rules));
}

}  // namespace elias
