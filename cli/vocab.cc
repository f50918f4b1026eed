// elias vocab: a WordPiece vocabulary learned from texts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/errors.h"
#include "base/progress.h"
#include "base/readable.h"
#include "cli/data_options.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "data/io/byte_sink.h"
#include "data/point_reader.h"
#include "text/wordpiece_learner.h"

namespace elias::cli {
namespace {

struct Options {
  DataOptions data;
  std::string input, output;
  WordPieceLearnerOptions learner;
  bool cased = false;
};

constexpr const char* kExamples = R"(Examples:
  elias vocab --input texts.txt --format lines --out tokenizer.json
  elias vocab --input trn.tsv --size 8000 --out vocab.txt
  elias tokenize --vocab tokenizer.json --tokens texts.txt)";

std::string vocabulary_lines(const WordPieceConfig& config) {
  std::string lines;
  for (size_t id = 0; id < config.tokens.rows(); ++id) {
    lines += std::string(config.tokens.row(id)) + "\n";
  }
  return lines;
}

WordPieceConfig finish(const WordPieceLearner& learner, const std::string& input) try {
  return learner.finish();
} catch (const InputError& error) {
  throw InputError("{}: {}", input, error.what());
}

void check_out(const Options& options) {
  if (options.output.ends_with(".gz")) {
    throw InputError("{}: a vocabulary is read as it is: give --out a name without .gz",
                     options.output);
  }
  if (!options.cased || options.output.ends_with(".json")) return;
  throw InputError(
      "--cased: {} would be a vocab.txt, which says nothing of case: give --out a name that ends "
      "in .json",
      options.output);
}

void run(const Options& options, const Global& global) {
  check_out(options);
  ThreadPool pool(global.threads);
  WordPieceLearnerOptions how = options.learner;
  how.text.lowercase = !options.cased;
  WordPieceLearner learner(how, pool);
  LabelSpace labels = options.data.label_space();
  const auto reader = options.data.open_texts(options.input, labels, pool);
  Progress progress("counting words", "texts", reader->info().promised_rows.value_or(0));
  for (PointBatch batch; reader->next(batch);) {
    learner.add(batch.texts);
    progress.advance(batch.rows());
  }
  const WordPieceConfig config = finish(learner, reader->info().name);
  const auto sink = create_bytes(options.output);
  sink->write(options.output.ends_with(".json") ? tokenizer_json(config)
                                                : vocabulary_lines(config));
  sink->commit();
  fmt::print(stderr, "{}: {}\n", options.output == "-" ? "standard output" : options.output,
             counted(config.tokens.rows(), "token"));
}

}  // namespace

void add_vocab(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("vocab", "Learn a WordPiece vocabulary from texts, for a transformer");
  verb->footer(kExamples);
  verb->add_option("--input", options->input,
                   "Texts, one a line, or points with texts; - for standard input")
      ->required()
      ->type_name("FILE");
  options->data.add_to(*verb);
  verb->add_option("--out", options->output,
                   "File to write: a tokenizer.json if its name ends in .json, else a vocab.txt; - "
                   "for standard output")
      ->required()
      ->type_name("FILE");
  verb->add_option("--size", options->learner.size, "Tokens, at most")
      ->check(number_range(size_t{10}, size_t{1} << 24))
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--least-count", options->learner.least_count,
                   "How often two pieces must follow each other to become one")
      ->check(number_range(uint64_t{1}, uint64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--cased", options->cased, "Keep case and accents; needs --out NAME.json");
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
