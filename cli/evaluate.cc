// elias evaluate: how good are these predictions? The figures are defined in docs/metrics.md.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/errors.h"
#include "cli/data_options.h"
#include "cli/index_option.h"
#include "cli/number_range.h"
#include "cli/threshold_option.h"
#include "cli/verbs.h"
#include "data/io/byte_sink.h"
#include "data/label_matrix.h"
#include "data/predictions.h"
#include "metrics/evaluate.h"
#include "metrics/filter.h"
#include "report/evaluate_report.h"
#include "report/model_points.h"

namespace elias::cli {
namespace {

constexpr uint32_t kDeepest = 1'000'000;

constexpr const char* kExamples = R"(Examples:
  Compare two systems on the same test points, names taken from a label file:
    elias evaluate --truth test.tsv --train train.tsv --labels labels.txt \
                   --predictions ours.tsv theirs.npz

  Head and tail of one system, as in the literature on Amazon data, figures of every
  label into a file:
    elias evaluate --truth Y.tst.npz --train Y.trn.npz --propensity amazon \
                   --filter filter_labels_test.txt --predictions scores.npz \
                   --deciles --per-label labels.tsv

  A model on test points, which it predicts first; it knows its training counts:
    elias evaluate --model model/ --test test.tsv --deciles)";

struct Options {
  DataOptions data;  // of truth and training data
  std::string truth, train, filter, per_label, model, test;
  std::vector<std::string> predictions;
  std::string prediction_format, propensity = "default";
  EvaluateOptions evaluate;
  IndexOption index;
  ThresholdOption threshold;
  bool json = false;
};

/// The files that all predictions are held against.
struct Reference {
  LabelSpace labels;
  LabelMatrix truth;
  std::optional<Training> training;
  uint64_t known_labels = 0;      // in truth, training data and label file
  std::optional<uint64_t> width;  // where one of these files says how many there are
  std::vector<std::pair<uint64_t, LabelId>> filter;

  const Training* trained() const { return training ? &*training : nullptr; }
};

void tidy(std::vector<uint32_t>& cutoffs) {
  std::sort(cutoffs.begin(), cutoffs.end());
  cutoffs.erase(std::unique(cutoffs.begin(), cutoffs.end()), cutoffs.end());
}

/// What is evaluated: files of predictions against the truth, or a model on test points.
void check_sources(const Options& options) {
  const auto require = [](bool given, const char* option) {
    if (!given) throw InputError("{} is required: see elias evaluate --help", option);
  };
  const auto exclude = [](bool given, const char* option, const char* other) {
    if (given) throw InputError("{} excludes {}: see elias evaluate --help", option, other);
  };
  if (options.model.empty()) {
    if (options.test.empty() && options.truth.empty() && options.predictions.empty()) {
      throw InputError(
          "give --truth and --predictions, or --model and --test: see elias evaluate --help");
    }
    require(options.test.empty(), "--model, beside --test,");
    require(!options.index.exact(), "--model, beside --index,");
    require(!options.truth.empty(), "--truth");
    require(!options.predictions.empty(), "--predictions");
    return;
  }
  exclude(!options.predictions.empty(), "--model", "--predictions");
  exclude(!options.truth.empty(), "--model", "--truth, which --test takes the place of");
  exclude(!options.train.empty(), "--model", "--train: it knows its training counts");
  exclude(!options.data.labels_path.empty(), "--model", "--labels: it has labels of its own");
  require(!options.test.empty(), "--test");
}

void check_options(Options& options) {
  check_sources(options);
  std::vector<std::string> inputs = options.predictions;
  inputs.insert(inputs.end(), {options.truth, options.train});
  if (std::count(inputs.begin(), inputs.end(), "-") > 1) {
    throw InputError("standard input is named more than once: only one file can be read from it");
  }
  propensity_from_name(options.propensity);  // a wrong name is an error with or without --train
  EvaluateOptions& evaluate = options.evaluate;
  for (auto* list : {&evaluate.cutoffs.k, &evaluate.cutoffs.recall, &evaluate.cutoffs.mrr}) {
    tidy(*list);
  }
  if (options.threshold.given() && !(options.threshold.automatic() && !options.model.empty())) {
    evaluate.threshold = options.threshold.score();
  }
  if (!options.per_label.empty() && options.predictions.size() > 1) {
    throw InputError(
        "--per-label: holds the labels of one file of predictions, {} are given: "
        "evaluate them one by one",
        options.predictions.size());
  }
  evaluate.groups = evaluate.groups && !(options.train.empty() && options.model.empty());
  evaluate.labels = !options.per_label.empty();
}

void read_training(const Options& options, const ReadOptions& reading, Reference& reference,
                   ThreadPool& pool) {
  const LabelMatrix train = read_label_matrix(options.train, reading, reference.labels, pool);
  const auto& width = reference.truth.promised;
  if (width && train.promised && *width != *train.promised) {
    throw InputError("{}: has {} labels, {} has {}: give truth and training data of one label set",
                     options.train, *train.promised, options.truth, *width);
  }
  if (train.promised) reference.width = train.promised;
  reference.training = Training{.points = train.labels.rows(),
                                .counts = column_counts(train.labels),
                                .propensity = propensity_from_name(options.propensity)};
}

void read_filter_pairs(const Options& options, Reference& reference) {
  const LabelSpace& labels = reference.labels;
  if (options.filter.empty()) return;
  if (!labels.closed() && labels.form() == LabelForm::kNames) {
    throw InputError(
        "{}: a filter holds label ids, but the labels are names: say with --labels "
        "which id is which name",
        options.filter);
  }
  reference.filter = read_filter(options.filter, reference.truth.labels.rows(), labels.size());
}

Reference read_reference(const Options& options, ThreadPool& pool) {
  Reference reference;
  reference.labels = options.data.label_space();
  const ReadOptions reading = options.data.read_options();
  reference.truth = read_label_matrix(options.truth, reading, reference.labels, pool);
  reference.width = reference.truth.promised;
  if (!options.train.empty()) read_training(options, reading, reference, pool);
  LabelSpace& labels = reference.labels;
  reference.known_labels = labels.size();
  read_filter_pairs(options, reference);
  return reference;
}

/// Throws InputError if a label is beyond a width that truth or training data promise.
void check_width(const Csr& scores, const std::string& path, const Options& options,
                 uint64_t width) {
  const auto bad = std::find_if(scores.columns.begin(), scores.columns.end(),
                                [&](uint32_t label) { return label >= width; });
  if (bad == scores.columns.end()) return;
  const auto entry = static_cast<uint64_t>(bad - scores.columns.begin());
  const auto row = std::upper_bound(scores.offsets.begin(), scores.offsets.end(), entry);
  throw InputError(
      "{}: row {} predicts label {}, but {} has {} labels (ids start at 0): are these "
      "predictions for another label set?",
      path, row - scores.offsets.begin() - 1, *bad, options.truth, width);
}

uint64_t count_unknown(const Csr& scores, uint64_t known) {
  std::vector<uint32_t> unknown;
  std::copy_if(scores.columns.begin(), scores.columns.end(), std::back_inserter(unknown),
               [&](uint32_t label) { return label >= known; });
  tidy(unknown);
  return unknown.size();
}

FileEvaluation evaluate_file(const std::string& path, const Options& options, Reference& reference,
                             ThreadPool& pool) {
  const Csr& truth = reference.truth.labels;
  std::optional<Format> format;
  if (!options.prediction_format.empty()) format = format_from_name(options.prediction_format);
  Csr scores = read_predictions(path, format, options.data.read_options().label_form,
                                reference.labels, pool);
  if (scores.rows() != truth.rows()) {
    throw InputError(
        "{}: has {} rows, {} has {} points: give one row of predictions for each point", path,
        scores.rows(), options.truth, truth.rows());
  }
  if (reference.width) check_width(scores, path, options, *reference.width);
  FileEvaluation file;
  file.name = path;
  file.unknown_labels = count_unknown(scores, reference.known_labels);
  file.filtered = remove_pairs(scores, reference.filter);
  file.result = evaluate(truth, scores, reference.trained(), options.evaluate, pool, path);
  return file;
}

/// The best labels of the test points by the model, as many as the deepest cut-off asks for, and
/// what they are held against.
FileEvaluation evaluate_model(const Options& options, Reference& reference, ThreadPool& pool) {
  const Context context(pool);
  const Model model = options.index.load(options.model, context);
  TestPoints test = read_test_points(options.test, options.data.read_options(), model, pool);
  reference.labels = std::move(test.space);
  reference.truth = {.labels = std::move(test.labels), .promised = {}};
  reference.training = training_of(model, propensity_from_name(options.propensity));
  reference.known_labels = reference.labels.size();
  read_filter_pairs(options, reference);
  EvaluateOptions evaluating = options.evaluate;
  std::optional<Thresholds> thresholds;
  if (options.threshold.automatic()) {
    thresholds = options.threshold.of(model, options.model);
    evaluating.threshold = thresholds->common;
    evaluating.label_thresholds = thresholds->by_label;
  }
  int64_t depth = options.evaluate.cutoffs.deepest();
  if (thresholds) depth = std::max(depth, Thresholds::kDepth);
  Csr scores = predict_all(context, model.predictor(), test.points, depth);
  FileEvaluation file;
  file.name = options.model;
  const auto deepest = std::min<uint64_t>(options.evaluate.cutoffs.deepest(), model.labels());
  const auto K = static_cast<uint64_t>(most_found(model));
  if (model.first().weights.cluster_weights && K < deepest) file.shortlist = K;
  file.filtered = remove_pairs(scores, reference.filter);
  file.result = evaluate(reference.truth.labels, scores, reference.trained(), evaluating, pool,
                         options.model);
  return file;
}

void print_tables(const std::vector<FileEvaluation>& files, const Training* training,
                  const LabelDeciles& deciles) {
  fmt::print("{}\n{}", metrics_table(files), metrics_notes(files, training));
  for (const auto& file : files) {
    if (!file.result.groups.empty()) fmt::print("\n{}", decile_table(file, deciles));
  }
}

void run_evaluate(Options& options, const Global& global) {
  check_options(options);
  ThreadPool pool(global.threads);
  Reference reference;
  std::vector<FileEvaluation> files;
  if (options.model.empty()) {
    reference = read_reference(options, pool);
  } else {
    files.push_back(evaluate_model(options, reference, pool));
  }
  for (const auto& path : options.predictions) {
    files.push_back(evaluate_file(path, options, reference, pool));
  }
  LabelDeciles deciles;
  if (reference.training) deciles = label_deciles(reference.training->counts);
  if (options.json) {
    const auto json = evaluation_json(files, reference.trained(), &deciles);
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    print_tables(files, reference.trained(), deciles);
  }
  if (!options.per_label.empty()) {
    const auto sink = create_bytes(options.per_label);
    sink->write(label_tsv(files[0].result, reference.trained(), reference.labels));
    sink->commit();
  }
}

}  // namespace

void add_evaluate(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  Cutoffs& cutoffs = options->evaluate.cutoffs;
  CLI::App* verb = app.add_subcommand("evaluate", "Measure predictions against the truth");
  verb->footer(kExamples);
  verb->add_option("--truth", options->truth, "True labels: points, or a label matrix")
      ->type_name("FILE");
  verb->add_option("--predictions", options->predictions, "Scored labels, one file or several")
      ->type_name("FILE");
  verb->add_option("--model", options->model,
                   "Evaluate this model, the folder that 'elias fit' wrote, on --test")
      ->type_name("FOLDER");
  verb->add_option("--test", options->test, "Points with their true labels, for --model")
      ->type_name("FILE");
  verb->add_option("--train", options->train, "Training labels, for propensities and deciles")
      ->type_name("FILE");
  verb->add_option("--filter", options->filter, "Pairs 'row label' that must not be predicted")
      ->type_name("FILE");
  verb->add_option("--propensity", options->propensity,
                   "amazon, wikipedia, default, or the constants as A,B")
      ->type_name("NAME|A,B")
      ->capture_default_str();
  const auto add_cutoffs = [&](const char* name, std::vector<uint32_t>& list, const char* what) {
    verb->add_option(name, list, what)
        ->delimiter(',')
        ->check(number_range(1u, kDeepest))
        ->type_name("LIST")
        ->capture_default_str();
  };
  add_cutoffs("--k", cutoffs.k, "Cut-offs of P, nDCG, PSP, PSnDCG and coverage");
  add_cutoffs("--recall-k", cutoffs.recall, "Cut-offs of R");
  add_cutoffs("--mrr-k", cutoffs.mrr, "Cut-offs of MRR");
  options->index.add_to(*verb);
  options->threshold.add_to(*verb,
                            "Score from which a pair counts as predicted in F1 (0.5 for "
                            "probabilities); auto: the thresholds of --model");
  verb->add_flag("--deciles", options->evaluate.groups, "Figures by label frequency too");
  verb->add_option("--per-label", options->per_label, "Write the figures of each label, as TSV")
      ->type_name("FILE");
  options->data.add_to(*verb);
  verb->add_option("--prediction-format", options->prediction_format, "Format of predictions")
      ->type_name("NAME");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &global] { run_evaluate(*options, global); });
}

}  // namespace elias::cli
