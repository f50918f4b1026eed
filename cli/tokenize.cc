// elias tokenize: the WordPiece ids of texts, a line for each text.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/errors.h"
#include "cli/data_options.h"
#include "cli/verbs.h"
#include "data/io/byte_sink.h"
#include "text/wordpiece.h"

namespace elias::cli {
namespace {

struct Options {
  DataOptions data;
  std::string vocabulary, input = "-", output = "-";
  size_t max_length = 0;
  bool tokens = false, cased = false;
};

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
  LabelSpace labels = options.data.label_space();
  const auto reader = options.data.open_texts(options.input, labels, pool);
  const auto sink = create_bytes(options.output);
  for (PointBatch batch; reader->next(batch);) {
    const TokenRows rows = wordpiece.encode_all(batch.texts, options.max_length, pool);
    sink->write(lines_of(rows, wordpiece, options.tokens));
  }
  sink->commit();
}

}  // namespace

void add_tokenize(CLI::App& app, const Global& global) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("tokenize", "Print the WordPiece ids of texts");
  verb->add_option("INPUT", options->input,
                   "Texts, one a line, or points with texts; - for standard input (default)");
  options->data.add_to(*verb);
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
