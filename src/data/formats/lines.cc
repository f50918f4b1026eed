// One text a line, no labels: the X of a pair, or texts to be tokenised.
#include "data/formats/block_parser.h"

namespace elias {
namespace {

class LinesParser : public BlockParser {
 public:
  explicit LinesParser(ParseRules rules) : BlockParser(std::move(rules), false) {}

 protected:
  void parse_line(std::string_view row, uint64_t line, ParsedBlock& out) const override {
    add_text(out, row, line);
  }
};

}  // namespace

std::unique_ptr<BlockParser> make_lines_parser(ParseRules rules) {
  return std::make_unique<LinesParser>(std::move(rules));
}

}  // namespace elias
