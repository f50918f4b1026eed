// elias inspect: what the index of a model has learned. docs/inspect.md says how to read it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/readable.h"
#include "cli/data_options.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "model/model_folder.h"
#include "report/find_label.h"
#include "report/inspect_report.h"
#include "report/model_points.h"

namespace elias::cli {
namespace {

struct Options {
  std::string model, test, label;
  DataOptions data;  // of the test points; the model decides what labels are
  bool has_label = false, json = false;
  size_t member = 1;
};

constexpr const char* kExamples = R"(Examples:
  What the model is, and what its index has learned:
    elias inspect model/

  Recall from frequent to rare labels too:
    elias inspect model/ --test test.tsv

  One label: its clusters, who else is there, and the labels most like it:
    elias inspect model/ --label 'green tea'

  For programs:
    elias inspect model/ --json | jq .index.edges)";

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void inspect_label(const Model& model, const Options& options, ThreadPool& pool) {
  constexpr size_t kMost = 10;
  const uint32_t label = find_label(model, options.model, options.label, pool);
  const LabelPortrait portrait =
      portray(model.members()[options.member - 1].weights, label, kMost, pool);
  if (options.json) {
    print_json(label_json(model, portrait, options.member - 1));
  } else {
    fmt::print("{}", label_report(model, portrait, options.member - 1));
  }
}

void run(const Options& options, const Global& global) {
  ThreadPool pool(global.threads);
  const Context context(pool);
  const Model model = Model::load(options.model, context);
  if (options.member > model.members().size()) {
    throw InputError("--member {}: {} has {}", options.member, options.model,
                     counted(model.members().size(), "member"));
  }
  if (options.has_label) return inspect_label(model, options, pool);
  Inspection inspection(options.model, model, options.member - 1);
  if (!options.test.empty()) {
    inspection.test_file = options.test;
    const auto points = read_test_points(options.test, options.data.read_options(), model, pool);
    inspection.test = evaluate_on(points, model, context);
  }
  if (options.json) {
    print_json(inspection_json(inspection));
  } else {
    fmt::print("{}", inspection_report(inspection));
  }
}

}  // namespace

void add_inspect(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("inspect", "Show what a model is and what it has learned");
  verb->footer(kExamples);
  verb->add_option("DIR", options->model, "The model: the folder that 'elias fit' wrote")
      ->required();
  CLI::Option* test = verb->add_option("--test", options->test,
                                       "Points with their true labels: adds recall by frequency")
                          ->type_name("FILE");
  options->data.add_format_to(*verb);
  verb->add_option("--label", options->label, "Show this label in place of the model")
      ->type_name("NAME")
      ->excludes(test)
      ->each([options](const std::string&) { options->has_label = true; });
  verb->add_option("--member", options->member, "Of an ensemble: whose index to look at")
      ->check(number_range(size_t{1}, kMostMembers))
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
