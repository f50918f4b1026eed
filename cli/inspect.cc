// elias inspect: what the index of a model has learned. docs/inspect.md says how to read it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/edit_distance.h"
#include "base/errors.h"
#include "base/readable.h"
#include "cli/data_options.h"
#include "cli/inspect_report.h"
#include "cli/model_points.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "model/model_folder.h"

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

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// The names of the labels most like `name`: those that contain it, then those spelt much like it.
std::vector<std::string> similar_names(const Model& model, const std::string& name,
                                       ThreadPool& pool) {
  constexpr size_t kNames = 3, kLabelsPerChunk = 1024;
  using Candidate = std::tuple<bool, size_t, uint32_t>;  // without it, distance, label
  const std::string wanted = lower(name);
  std::vector<Candidate> all(model.labels());
  pool.for_chunks(all.size(), kLabelsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t l = begin; l < end; ++l) {
      const auto label = static_cast<uint32_t>(l);
      const std::string other = lower(model.label_name(label));
      all[l] = {other.find(wanted) == std::string::npos, edit_distance(wanted, other), label};
    }
  });
  const auto end = all.begin() + static_cast<ptrdiff_t>(std::min(kNames, all.size()));
  std::partial_sort(all.begin(), end, all.end());
  std::vector<std::string> names;
  for (auto place = all.begin(); place != end; ++place) {
    names.push_back(shown(model.label_name(std::get<uint32_t>(*place))));
  }
  return names;
}

uint32_t find_label(const Model& model, const Options& options, ThreadPool& pool) {
  if (const auto label = model.find_label(options.label)) return *label;
  if (!model.has_names()) {
    throw InputError("{}: has no label {}: its labels are the numbers from 0 to {}", options.model,
                     shown(options.label), model.labels() - 1);
  }
  throw InputError("{}: has no label {}: the nearest are {}", options.model, shown(options.label),
                   fmt::join(similar_names(model, options.label, pool), ", "));
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void inspect_label(const Model& model, const Options& options, ThreadPool& pool) {
  constexpr size_t kMost = 10;
  const uint32_t label = find_label(model, options, pool);
  const LabelPortrait portrait =
      portray(model.members()[options.member - 1].weights, label, kMost, pool);
  if (options.json) {
    print_json(label_json(model, portrait));
  } else {
    fmt::print("{}", label_report(model, portrait));
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
