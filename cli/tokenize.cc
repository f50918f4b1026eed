// elias tokenize: the WordPiece ids of texts, one text a line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/errors.h"
#include "cli/verbs.h"
#include "data/io/byte_sink.h"
#include "data/io/line_reader.h"
#include "data/io/utf8.h"
#include "text/wordpiece.h"

namespace elias::cli {
namespace {

struct Options {
  std::string vocabulary, input = "-", output = "-";
  size_t max_length = 0;
  bool tokens = false, cased = false;
};

TextRows texts_of(const LineBlock& block, const std::string& name) {
  TextRows texts;
  std::string_view rest = block.bytes;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (find_invalid_utf8(line) != std::string_view::npos) {
      throw InputError("{}: is not UTF-8: convert the file first",
                       place(name, block.first_line + texts.rows()));
    }
    texts.add(line);
  }
  return texts;
}

std::string lines_of(const TokenRows& rows, const WordPiece& wordpiece, bool tokens) {
  std::string lines;
  for (size_t i = 0; i < rows.rows(); ++i) {
    const char* separator = "";
    for (const uint32_t id : rows.row(i)) {
      lines += separator;
      lines += tokens ? std::string(wordpiece.token(id)) : std::to_string(id);
      separator = " ";
    }
    lines += '\n';
  }
  return lines;
}

void run(const Options& options, const Global& global) {
  BertTextOptions text;
  text.lowercase = !options.cased;
  const WordPiece wordpiece = WordPiece::read(options.vocabulary, text);
  ThreadPool pool(global.threads);
  LineReader reader(open_bytes(options.input));
  const auto sink = create_bytes(options.output);
  LineBlock block;
  while (reader.next(block)) {
    const TokenRows rows =
        wordpiece.encode_all(texts_of(block, reader.name()), options.max_length, pool);
    sink->write(lines_of(rows, wordpiece, options.tokens));
  }
  sink->commit();
}

}  // namespace

void add_tokenize(CLI::App& app, const Global& global) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("tokenize", "Print the WordPiece ids of texts");
  verb->add_option("INPUT", options->input, "Texts, one a line, - for standard input (default)");
  verb->add_option("--vocab", options->vocabulary, "A model's tokenizer.json or vocab.txt")
      ->required()
      ->type_name("FILE");
  verb->add_option("--out", options->output, "File to write, - for standard output (default)")
      ->type_name("FILE");
  verb->add_option("--max-length", options->max_length,
                   "Cut to so many ids, [CLS] and [SEP] among them; 0 means not at all")
      ->type_name("N");
  verb->add_flag("--tokens", options->tokens, "Print pieces instead of ids");
  verb->add_flag("--cased", options->cased,
                 "Keep case and accents; for a vocab.txt, a tokenizer.json says so itself");
  verb->footer(
      "Examples:\n"
      "  elias tokenize --vocab tokenizer.json --max-length 128 texts.txt\n"
      "  echo 'Unaffordable!' | elias tokenize --vocab vocab.txt --tokens");
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
