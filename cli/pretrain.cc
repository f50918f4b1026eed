// elias pretrain: a transformer learned from texts alone, by telling masked words.
//
// It can be stopped at any time, as `elias fit`: the same command goes on where it stopped.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "base/json_log.h"
#include "base/machine_memory.h"
#include "base/readable.h"
#include "base/stopwatch.h"
#include "cli/data_options.h"
#include "cli/number_range.h"
#include "cli/stop_signals.h"
#include "cli/verbs.h"
#include "data/point_reader.h"
#include "report/fit_report.h"
#include "report/terminal_text.h"
#include "train/encoder_start.h"
#include "train/fingerprint.h"
#include "train/pretrain.h"
#include "train/run_folder.h"

namespace elias::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  DataOptions data;
  std::string input, encoder, out;
  PretrainSettings settings;
  int64_t max_length = 0;
  bool overwrite = false;
  double checkpoint_minutes = 5;
};

constexpr const char* kExamples = R"(Examples:
  A small transformer of one's own texts, with a vocabulary learned from them; and a model of
  labelled points that starts with it:
    elias pretrain --input texts.txt --format lines --encoder new:layers=4,width=256,heads=4 \
        --out encoder/
    elias fit --train trn.tsv --encoder encoder/ --out model/

  One that is there, brought nearer to one's texts:
    elias pretrain --input trn.tsv --encoder all-MiniLM-L6-v2/ --epochs 3 --out nearer/

A run that was stopped goes on if the same command is given again.)";

TextRows read_texts(const Options& options, ThreadPool& pool) {
  LabelSpace labels = options.data.label_space();
  const auto reader = options.data.open_texts(options.input, labels, pool);
  TextRows texts;
  for (PointBatch batch; reader->next(batch);) texts.append(batch.texts);
  if (texts.rows() == 0) {
    throw InputError("{}: is empty: give texts to learn from", reader->info().name);
  }
  return texts;
}

/// What a run learns from, and what it begins with.
struct Lesson {
  const TokenRows& tokens;
  uint64_t left_out;   // texts without a word
  int64_t max_length;  // of a text, in tokens
  const WordMasker& masker;
  const Pretrained& start;
};

std::string summary(const Options& options, const Lesson& lesson,
                    const PretrainSettings& settings) {
  const TransformerShape& shape = lesson.start.config.shape;
  const auto size = [](int64_t value, std::string_view what) {
    return counted(static_cast<uint64_t>(value), what);
  };
  const std::string left_out =
      lesson.left_out == 0
          ? ""
          : fmt::format("left out: {} without a word to mask\n", counted(lesson.left_out, "text"));
  return fmt::format(
      "{}: {}, {}; held out: {}\n"
      "{}"
      "transformer: {}, width {}, {}, vocabulary of {}\n"
      "{}"
      "{}, {} a step, rate {}\n",
      options.input, counted(lesson.tokens.rows(), "text"),
      counted(lesson.tokens.ids.size(), "token"), size(settings.held_out, "text"), left_out,
      size(shape.layers, "layer"), shape.width, size(shape.heads, "head"),
      size(shape.vocabulary, "token"), unknown_words_line(lesson.start.tokens, lesson.tokens),
      size(settings.epochs, "epoch"), size(settings.batch_tokens, "token"), settings.rate);
}

std::string memory_line(const PretrainSettings& settings, const Lesson& lesson) {
  const uint64_t bytes = pretraining_memory(settings, lesson.start.config.shape, lesson.tokens);
  const uint64_t total = machine_memory().total;
  if (total > 0 && bytes > total) {
    throw InputError(
        "the run would take about {} of memory, the machine has {}: lower --batch-tokens, or take "
        "a "
        "smaller transformer",
        bytes_text(bytes), bytes_text(total));
  }
  return fmt::format("memory: about {}\n", bytes_text(bytes));
}

Outcome pretrain_in(RunFolder& folder, const Options& options, const PretrainSettings& settings,
                    const Lesson& lesson, const Context& context) {
  const Pretrained& start = lesson.start;
  FitDisplay display;
  JsonLog log(folder.log_path());
  Stopwatch since_checkpoint;
  const PretrainHooks hooks{
      .stop = [] { return asked_to_stop() != 0; },
      .progress = [&](const TrainingProgress& progress) { display.progress(progress); },
      .log =
          [&](const std::string& event, const ordered_json& fields) {
            log.write(event, fields);
            display.event(event, fields);
          },
      .checkpoint_due =
          [&] { return since_checkpoint.seconds() >= 60 * options.checkpoint_minutes; },
      .checkpoint =
          [&](const SafetensorsWriter& state) {
            folder.save_checkpoint(state);
            since_checkpoint = Stopwatch();
          },
      .keep =
          [&](const TransformerWeights<ConstTensorView>& weights) {
            folder.replace_best([&](const std::string& best) {
              write_pretrained(best, start.config, weights, start.tokens, lesson.max_length,
                               start.unit);
            });
          }};
  stop_in_good_order_on_signals();
  const Outcome outcome =
      pretrain(context, settings, start, lesson.masker, lesson.tokens, hooks, folder.checkpoint());
  remove_temporary_files_on_signals();
  return outcome;
}

void run(Options options, const Global& global) {
  options.encoder = encoder_name(options.encoder);
  const BrokenPipesIgnored survive_a_lost_reader;
  RunFolder folder(options.out, options.overwrite, pretrained_encoder());
  ThreadPool pool(global.threads);
  const Context context(pool);
  const TextRows texts = read_texts(options, pool);
  Settings of_encoder;
  of_encoder.encoder = options.encoder;
  of_encoder.seed = options.settings.seed;
  of_encoder.max_length = options.max_length;
  const auto start = start_transformer(of_encoder, texts, pool);
  // What is wrong with words shows now, rather than when a folder was begun.
  const WordMasker masker(start->tokens, options.settings.masked, options.encoder);
  const TokenRows tokens =
      texts_with_words(WordPiece(start->tokens, options.encoder)
                           .encode_all(texts, static_cast<size_t>(of_encoder.max_length), pool),
                       masker, options.input);
  const Lesson lesson{.tokens = tokens,
                      .left_out = texts.rows() - tokens.rows(),
                      .max_length = of_encoder.max_length,
                      .masker = masker,
                      .start = *start};
  PretrainSettings settings = options.settings;
  resolve(settings, tokens, is_new_transformer(options.encoder));
  say(summary(options, lesson, settings));
  say(memory_line(settings, lesson));

  // What others are derived from stands before them: where two runs differ, the cause is named.
  ordered_json described = {{"encoder", options.encoder}, {"max_length", of_encoder.max_length}};
  described.update(to_json(settings));
  const auto state = folder.begin(
      {{"data", {{"texts", texts.rows()}, {"hash", fingerprint_text(mixed(0, texts))}}},
       {"settings", described},
       {"weights", start_identity(start.get())}});
  const std::string next = fmt::format(
      "{} is an encoder. To learn with it:\n  elias fit --train trn.tsv --encoder {} --out model\n",
      folder.path(), shell_word(folder.path()));
  if (state == RunFolder::State::kFinished) {
    return say(
        fmt::format("{}: the run is finished already: nothing to do\n{}", folder.path(), next));
  }
  if (state == RunFolder::State::kStopped) say("going on from the last checkpoint\n");
  if (pretrain_in(folder, options, settings, lesson, context) == Outcome::kStopped) {
    std::fputs("elias: stopped, a checkpoint is saved: the same command goes on from it\n", stderr);
    throw Interrupted{asked_to_stop()};
  }
  folder.finish();
  say(next);
}

void add_settings(CLI::App& verb, Options& options) {
  PretrainSettings& settings = options.settings;
  verb.add_option("--epochs", settings.epochs,
                  "Passes over the texts (default: about 100 million tokens in all, at most 40)")
      ->check(number_range(int64_t{1}, int64_t{1'000'000}))
      ->type_name("N");
  verb.add_option("--rate", settings.rate,
                  "Learning rate at its peak (default: 0.001 for a new transformer, else 0.0001)")
      ->check(number_range(1e-9, 1.0))
      ->type_name("NUMBER");
  verb.add_option("--batch-tokens", settings.batch_tokens,
                  "Tokens a step, at most, which bounds the memory it takes; one text at least "
                  "(default: 8,192, or fewer of few texts)")
      ->check(number_range(int64_t{1}, int64_t{1} << 30))
      ->type_name("N");
  verb.add_option(
          "--max-length", options.max_length,
          "Tokens of a text that are read (default: 128, or fewer where the folder says so)")
      ->check(number_range(int64_t{3}, int64_t{65536}))
      ->type_name("N");
  verb.add_option("--masked", settings.masked, "Share of the words that are masked")
      ->check(number_range(0.01, 0.9))
      ->type_name("SHARE")
      ->capture_default_str();
  verb.add_option("--held-out", settings.held_out,
                  "Texts to measure by (default: a twentieth, at most 2,000)")
      ->check(number_range(int64_t{0}, int64_t{1} << 40))
      ->type_name("N");
  verb.add_option("--seed", settings.seed, "Of all random choices")
      ->type_name("NUMBER")
      ->capture_default_str();
}

}  // namespace

void add_pretrain(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("pretrain", "Learn a transformer from texts alone, without labels");
  verb->footer(kExamples);
  verb->add_option("--input", options->input,
                   "Texts, one a line, or points with texts; - for standard input")
      ->required()
      ->type_name("FILE");
  options->data.add_to(*verb);
  verb->add_option(
          "--encoder", options->encoder,
          "The sizes of a new one, new:layers=4,width=256,heads=4, which are those if none "
          "are given (others are inner, positions, vocabulary and words), or the folder of "
          "one to go on with")
      ->required()
      ->type_name("new:SIZES|FOLDER");
  verb->add_option("--out", options->out, "Folder of the encoder, as Hugging Face writes it")
      ->required()
      ->type_name("DIR");
  verb->add_flag("--overwrite", options->overwrite,
                 "Start anew where the folder holds another run, or a finished one");
  verb->add_option("--checkpoint-minutes", options->checkpoint_minutes,
                   "Minutes from one checkpoint to the next")
      ->check(number_range(0.0, 1e6))
      ->type_name("NUMBER")
      ->capture_default_str();
  add_settings(*verb, *options);
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
