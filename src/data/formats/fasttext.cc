// fastText's lines: words separated by blanks, of which those that start with __label__ are labels,
// wherever they stand. What is left, with single blanks, is the text. As predictions (what
// `fasttext predict-prob` prints) each label is followed by its probability.
#include "base/errors.h"
#include "data/formats/block_parser.h"
#include "data/io/numbers.h"

namespace elias {
namespace {

constexpr std::string_view kPrefix = "__label__";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\0'; }

std::string_view take_word(std::string_view& line) {
  size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

class FastTextParser : public BlockParser {
 public:
  using BlockParser::BlockParser;

  void parse(const LineBlock& block, ParsedBlock& out) const override {
    const bool scored = rules().values == ReadOptions::Values::kScore;
    std::string_view left = block.bytes;
    std::string text;
    for (uint64_t line = block.first_line; !left.empty(); ++line) {
      std::string_view row = take_line(left);
      text.clear();
      for (std::string_view word = take_word(row); !word.empty(); word = take_word(row)) {
        if (word.starts_with(kPrefix)) {
          const std::string_view label = word.substr(kPrefix.size());
          add_label(out, label, scored ? take_score(row, label, line) : 1.0f, line);
        } else {
          if (!text.empty()) text += ' ';
          text += word;
        }
      }
      add_text(out, text, line);
      out.finish_row(line, false);
    }
  }

 private:
  float take_score(std::string_view& row, std::string_view label, uint64_t line) const {
    const std::string_view word = take_word(row);
    const char* p = word.data();
    float score = 0;
    if (!parse_real(p, word.data() + word.size(), score) || p != word.data() + word.size()) {
      throw InputError(
          "{}: label {} is followed by {}, not by its score: write the predictions with "
          "fasttext predict-prob",
          at(line), shown(label), shown(word));
    }
    return score;
  }
};

}  // namespace

std::unique_ptr<BlockParser> make_fasttext_parser(ParseRules rules) {
  return std::make_unique<FastTextParser>(std::move(rules));
}

}  // namespace elias
