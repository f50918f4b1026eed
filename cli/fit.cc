// elias fit: learns a model from labelled points.
//
// It can be stopped at any time: the same command goes on where it stopped (train/run_folder.h).
// Ctrl-C and SIGTERM save a checkpoint first; a second one stops at once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "cli/data_options.h"
#include "cli/number_range.h"
#include "cli/prediction_writer.h"
#include "cli/stop_signals.h"
#include "cli/verbs.h"
#include "model/model.h"
#include "report/fit_report.h"
#include "report/terminal_text.h"
#include "train/encoder_start.h"
#include "train/fit_model.h"
#include "train/run_folder.h"
#include "train/training_points.h"

namespace elias::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kExamples = R"(Examples:
  elias fit --train trn.tsv --out model
  elias fit --train trn.json.gz --dev dev.json.gz --labels labels.txt --out model
  elias fit --train X.trn.npz,Y.trn.npz --out model --seed 1 --set width=1024 --set beam=40
  elias fit --train trn.tsv --out exact --method ova --store bf16
  elias fit --train trn.tsv --out near --method glas
  elias fit --train trn.tsv --out best --ensemble 3
  elias fit --train trn.tsv --out deep --encoder all-MiniLM-L6-v2/

A run that was stopped goes on if the same command is given again.

Settings (--set name=value, or a JSON object in the file of --settings); what is auto follows from
the data, see docs/training.md:
)";

struct Options {
  DataOptions data;
  std::string train, dev, out, preset, settings_file;
  std::optional<std::string> encoder, method, index, seed, ensemble;
  std::vector<std::string> set;
  std::string store = "float32";
  bool as_published = false, overwrite = false;
  double checkpoint_minutes = 5;
};

// --- settings ------------------------------------------------------------------------------------

ordered_json read_settings_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw InputError("{}: cannot be read ({}): give a file of settings", path, system_error_text());
  }
  auto json = ordered_json::parse(file, nullptr, false);
  if (json.is_discarded()) {
    throw InputError("{}: is not JSON: give settings as {{\"name\": value, ...}}", path);
  }
  // The description of an earlier run, and that of a model, have their settings in them.
  for (const char* section : {"settings", "training"}) {
    if (json.is_object() && json.contains(section)) return json[section];
  }
  return json;
}

/// What is said one by one, from the least to the most particular: `file`, that of --settings, and
/// options.
void set_given(Settings& settings, const ordered_json& file, const Options& options) {
  set_all(settings, file, options.settings_file);
  if (options.encoder) set(settings, "encoder", *options.encoder, "--encoder");
  if (options.method) set(settings, "method", *options.method, "--method");
  if (options.index) set(settings, "index", *options.index, "--index");
  if (options.seed) set(settings, "seed", *options.seed, "--seed");
  if (options.ensemble) set(settings, "ensemble", *options.ensemble, "--ensemble");
  for (const std::string& one : options.set) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos) {
      throw InputError("--set {}: is not name=value: see elias fit --help", one);
    }
    set(settings, one.substr(0, equals), one.substr(equals + 1), "--set");
  }
}

/// Over a preset and the paper's choices stands what is said one by one.
Settings given_settings(const Options& options) {
  const ordered_json file = options.settings_file.empty()
                                ? ordered_json::object()
                                : read_settings_file(options.settings_file);
  Settings given, settings;
  set_given(given, file, options);
  settings.encoder = given.encoder;  // presets say more of a transformer
  if (!options.preset.empty()) set_preset(settings, options.preset);
  if (options.as_published) set_as_published(settings);
  set_given(settings, file, options);
  settings.encoder = encoder_name(settings.encoder);
  if (options.as_published && settings.method == Method::kGlas) {
    throw InputError(
        "--as-published: has the choices of the ELIAS paper: of method glas take --preset "
        "amazoncat-13k, the base setting of its own paper");
  }
  return settings;
}

// --- the run -------------------------------------------------------------------------------------

FitOptions fit_options(const Options& options) {
  return {.storage = options.store == "bf16" ? LabelStorage::kBFloat16 : LabelStorage::kFloat32,
          .checkpoint_minutes = options.checkpoint_minutes};
}

Outcome train_in(RunFolder& folder, const FitOptions& how, const Settings& settings,
                 const TrainingPoints& points, const Context& context) {
  FitDisplay display;
  const FitHooks hooks{
      .stop = [] { return asked_to_stop() != 0; },
      .progress = [&](const TrainingProgress& progress) { display.progress(progress); },
      .log = [&](const std::string& event,
                 const ordered_json& fields) { display.event(event, fields); }};
  stop_in_good_order_on_signals();
  const Outcome outcome = fit_model(context, folder, settings, points, how, hooks);
  remove_temporary_files_on_signals();
  return outcome;
}

/// The figures of the model as it lies on disk.
void print_figures(const std::string& folder, const TrainingPoints& points,
                   const Context& context) {
  if (points.data.held_out_labels.rows() == 0) return;
  const Model model = Model::load(folder, context);
  constexpr int64_t kDeepest = 100;
  const Csr scores = predict_all(context, model.predictor(), points.data.held_out(),
                                 std::min(kDeepest, points.sizes.labels));
  const Training training{.points = static_cast<uint64_t>(points.sizes.points),
                          .counts = points.label_counts,
                          .propensity = propensity_from_name("default")};
  const Evaluation evaluation =
      evaluate(points.data.held_out_labels, scores, &training, {}, context.pool());
  say(fmt::format("held-out points: {}\n", figures_line(evaluation)));
}

bool fit_into_tsv(const LabelSpace& labels) {
  for (uint32_t label = 0; label < labels.names().size(); ++label) {
    if (!fits_into_tsv(labels.names()[label])) return false;
  }
  return true;
}

void print_next_command(const std::string& folder, const TrainingPoints& points) {
  say(fmt::format("{} is a model. To predict:\n  elias predict --model {} --input {}{}\n", folder,
                  shell_word(folder), points.tfidf ? "texts.txt" : "X.tst.npz",
                  fit_into_tsv(points.labels) ? "" : " --format jsonl"));
}

// A folder may hold several pairs: which one is meant is for the user to say.
void check_is_no_folder(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return;
  throw InputError("{}: is a directory: give the points in it as {}", path,
                   fmt::join(expand_folders({path}), " or "));
}

void check_options(const Options& options) {
  if (options.train == "-" && options.dev == "-") {
    throw InputError("standard input is named twice: only one file can be read from it");
  }
  check_is_no_folder(options.train);
  check_is_no_folder(options.dev);
}

void run_fit(const Options& options, const Global& global) {
  const BrokenPipesIgnored survive_a_lost_reader;
  check_options(options);
  Settings settings = given_settings(options);
  LabelSpace labels = options.data.label_space();
  RunFolder folder(options.out, options.overwrite);
  ThreadPool pool(global.threads);
  const Context context(pool);
  const TrainingPoints points = read_training_points(
      {options.train, options.dev, options.data.read_options()}, std::move(labels), settings, pool);
  check_label_names(points.labels);  // now, rather than when the model is written
  say(fit_summary(options.train, points, settings));
  const MemoryEstimate estimate = estimate_memory(settings, points.sizes, pool.threads());
  say(memory_line(estimate, settings, machine_memory()));

  const FitOptions how = fit_options(options);
  const auto state = folder.begin(run_identity(settings, points, how.storage));
  if (state == RunFolder::State::kFinished) {
    say(fmt::format("{}: the run is finished already: nothing to do\n", folder.path()));
    return print_next_command(folder.path(), points);
  }
  if (state == RunFolder::State::kStopped) say("going on from the last checkpoint\n");
  if (train_in(folder, how, settings, points, context) == Outcome::kStopped) {
    std::fputs("elias: stopped, a checkpoint is saved: the same command goes on from it\n", stderr);
    throw Interrupted{asked_to_stop()};
  }
  folder.finish();
  print_figures(folder.path(), points, context);
  print_next_command(folder.path(), points);
}

void add_files(CLI::App& verb, Options& options) {
  verb.add_option("--train", options.train,
                  "Points to learn from: a file, - for standard input, or a pair X,Y")
      ->required()
      ->type_name("FILE");
  verb.add_option("--dev", options.dev,
                  "Held-out points to choose by (default: some of the training points)")
      ->type_name("FILE");
  verb.add_option("--out", options.out, "Folder of the model, and of the run until it is finished")
      ->required()
      ->type_name("DIR");
  options.data.add_to(verb);
  verb.add_flag("--overwrite", options.overwrite,
                "Start anew where the folder holds another run, or a finished one");
  verb.add_option("--store", options.store, "Label classifiers as float32, or half of it as bf16")
      ->check(CLI::IsMember({"float32", "bf16"}))
      ->type_name("TYPE")
      ->capture_default_str();
  verb.add_option("--checkpoint-minutes", options.checkpoint_minutes,
                  "Minutes from one checkpoint to the next")
      ->check(number_range(0.0, 1e6))
      ->type_name("NUMBER")
      ->capture_default_str();
}

void add_settings(CLI::App& verb, Options& options) {
  verb.add_option("--method", options.method,
                  "elias: search, then rank; ova: rank all labels; glas: find the nearest "
                  "labels (default: elias)")
      ->type_name("NAME");
  verb.add_option("--encoder", options.encoder,
                  "A transformer in the place of a bag of words: a folder as Hugging Face writes "
                  "it, or new:layers=4,width=256,heads=4, which are the sizes if none are given; "
                  "others are inner, positions, vocabulary and words")
      ->type_name("FOLDER|new:SIZES");
  verb.add_option("--index", options.index,
                  "Of ova and glas: exact scores all labels, hnsw those that a graph of neighbours "
                  "leads to (default: hnsw for glas with more than 100,000 labels)")
      ->type_name("NAME");
  verb.add_option("--seed", options.seed, "Of all random choices (default: 0)")
      ->type_name("NUMBER");
  verb.add_option(
          "--ensemble", options.ensemble,
          "Train so many models with clusters of their own, and use them as one (default: 1)")
      ->type_name("NUMBER");
  verb.add_option("--preset", options.preset,
                  fmt::format("Settings of a paper: {}", fmt::join(preset_names(), ", ")))
      ->type_name("NAME");
  verb.add_flag("--as-published", options.as_published,
                "The choices of the ELIAS paper where ours differ");
  verb.add_option("--settings", options.settings_file, "Settings as a JSON object")
      ->type_name("FILE");
  verb.add_option("--set", options.set, "One setting; may be given again")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

}  // namespace

void add_fit(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("fit", "Learn a model from labelled points");
  add_files(*verb, *options);
  add_settings(*verb, *options);
  verb->footer(kExamples + settings_help());
  verb->callback([options, &global] { run_fit(*options, global); });
}

}  // namespace elias::cli
