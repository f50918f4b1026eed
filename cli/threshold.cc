// elias threshold: from which score on is a label predicted? Chosen on data, kept in the model.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/errors.h"
#include "base/readable.h"
#include "cli/data_options.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "report/model_points.h"
#include "report/threshold_report.h"

namespace elias::cli {
namespace {

struct Options {
  std::string model, data_path, goal = "f1";
  DataOptions data;  // of the points; the model decides what labels are
  uint64_t least = 10;
  bool per_label = false, dry_run = false, json = false;
};

constexpr const char* kExamples = R"(Examples:
  The threshold with the best F1, and predictions by it:
    elias threshold --model model/ --data dev.tsv
    elias predict --model model/ --input texts.txt --threshold auto

  Nine of ten predicted labels are to be right:
    elias threshold --model model/ --data dev.tsv --for precision=0.9

  Half of the true labels are to be found, and each label that has ten points
  in the data gets a threshold of its own:
    elias threshold --model model/ --data dev.tsv --for recall=0.5 --per-label

The data should be points that the model was not trained on: on those it was, its
scores are too high.)";

ThresholdGoal parse_goal(const std::string& text) {
  if (text == "f1") return {};
  const size_t sign = text.find('=');
  const std::string name = text.substr(0, sign);
  ThresholdGoal goal;
  if (name == "precision") goal.aim = ThresholdAim::kPrecision;
  if (name == "recall") goal.aim = ThresholdAim::kRecall;
  const std::string share = sign == std::string::npos ? "" : text.substr(sign + 1);
  if (goal.aim == ThresholdAim::kF1 || !CLI::detail::lexical_cast(share, goal.share) ||
      !(goal.share > 0 && goal.share <= 1)) {
    throw InputError(
        "--for {}: is not a goal: give f1, precision=P or recall=R with a share above 0 and up to "
        "1, such as precision=0.9",
        shown(text));
  }
  return goal;
}

[[noreturn]] void fail_goal(const Options& options, const ThresholdSearch& search) {
  if (search.most_recall() == 0) {
    throw InputError(
        "{}: no true label is among the {} best of its point: is it of another label set?",
        options.data_path, Thresholds::kDepth);
  }
  throw InputError(
      "--for {}: no threshold reaches it on {}: the most is a precision of {:.4f} or a recall of "
      "{:.4f}: ask for less{}",
      options.goal, options.data_path, search.most_precision(), search.most_recall(),
      options.per_label ? ", or leave out --per-label" : "");
}

/// Found out before the work, not after it.
void require_writable(const std::string& folder) {
  if (::access(folder.c_str(), W_OK) == 0) return;
  throw InputError(
      "{}: cannot be written ({}): check its permissions, or give --dry-run to see the threshold "
      "alone",
      folder, system_error_text());
}

void note_unknown(const ThresholdSearch& search) {
  if (search.unknown_positives() == 0) return;
  fmt::print(stderr, "elias: {} of labels that the model does not know: they count as not found\n",
             counted(search.unknown_positives(), "true pair"));
}

ThresholdChoice choose(const Options& options, const ThresholdSearch& search) {
  const ThresholdSearch::Options goal{
      .goal = parse_goal(options.goal),
      .least_own = options.per_label ? std::optional(options.least) : std::nullopt};
  const auto thresholds = search.find(goal);
  if (!thresholds) fail_goal(options, search);
  return {.thresholds = *thresholds,
          .least_own = goal.least_own,
          .here = search.figures(*thresholds),
          .tested = search.tested_figures(goal)};
}

void run(const Options& options, const Global& global) {
  parse_goal(options.goal);  // what is wrong is said before the work
  ThreadPool pool(global.threads);
  const Context context(pool);
  const Model model = Model::load(options.model, context);
  if (!options.dry_run) require_writable(options.model);
  const auto points = read_test_points(options.data_path, options.data.read_options(), model, pool);
  const ThresholdSearch search(
      points.labels, predict_all(context, model.predictor(), points.points, Thresholds::kDepth));
  note_unknown(search);
  const ThresholdChoice choice = choose(options, search);
  if (!options.dry_run) store_thresholds(options.model, model, choice.thresholds);
  if (options.json) {
    fmt::print("{}\n", threshold_json(choice).dump(2));
    return;
  }
  fmt::print("{}", threshold_report(choice));
  fmt::print("{}\n", options.dry_run ? "not kept: --dry-run"
                                     : "kept in the model: predict --threshold auto goes by it");
}

}  // namespace

void add_threshold(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "threshold", "Choose from which score on labels are predicted, and keep that in the model");
  verb->footer(kExamples);
  verb->add_option("--model", options->model, "The folder that 'elias fit' wrote")
      ->required()
      ->type_name("FOLDER");
  verb->add_option("--data", options->data_path,
                   "Points with their true labels, which the model was not trained on")
      ->required()
      ->type_name("FILE");
  options->data.add_format_to(*verb);
  verb->add_option("--for", options->goal,
                   "f1: as large as it can be; precision=P: at least P, with as many labels as "
                   "that allows; recall=R: at least R, with as few as that takes")
      ->type_name("GOAL")
      ->capture_default_str();
  CLI::Option* per_label =
      verb->add_flag("--per-label", options->per_label,
                     "Labels with enough points in the data get a threshold of their own");
  verb->add_option("--least", options->least, "How many points are enough for --per-label")
      ->needs(per_label)
      ->check(number_range(uint64_t{1}, uint64_t{1'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--dry-run", options->dry_run, "Show what would be chosen, and keep nothing");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
