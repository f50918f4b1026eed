// elias prune: a smaller model, without the edges of the index that hardly matter.
//
// No label that could be found is put out of reach: one that would lose its last edge keeps its
// best. All else in the model stays the same, to the bit.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/errors.h"
#include "cli/data_options.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "index/graph_analysis.h"
#include "model/model_folder.h"
#include "report/model_points.h"
#include "report/prune_report.h"

namespace elias::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostEdges = 1'000'000'000;

struct Options {
  std::string model, out, test;
  DataOptions data;      // of the test points; the model decides what labels are
  float threshold = -1;  // below 0: not given
  int64_t top = 0;       // 0: not given
  bool overwrite = false;
};

constexpr const char* kExamples = R"(Examples:
  Without the edges whose score is .25 or lower, and what that costs:
    elias prune model/ --threshold 0.25 --out small/ --test test.tsv

  The 200 strongest edges of each cluster:
    elias prune model/ --top 200 --out small/

A label that would lose its last edge keeps its best one.)";

void check_folder(const Options& options) {
  std::error_code ignored;
  if (fs::equivalent(options.out, options.model, ignored)) {
    throw InputError("{}: is the model itself: give --out another folder", options.out);
  }
  if (fs::equivalent(options.out, ".", ignored)) {
    throw InputError(
        "{}: is the folder you are in, whose place a new one takes: give another --out",
        options.out);
  }
  if (fs::exists(fs::path(options.out) / "run", ignored)) {
    throw InputError("{}: holds a run of elias fit: give another --out", options.out);
  }
  require_room_for_model(options.out, options.overwrite);
}

void check_options(const Options& options) {
  const bool has_threshold = options.threshold >= 0, has_top = options.top > 0;
  if (has_threshold == has_top) {
    throw InputError("give either --threshold or --top: see elias prune --help");
  }
  check_folder(options);
}

/// The graphs of all members, cut; adds the labels that kept their best edge to `restored`.
std::vector<PrunedGraph> pruned_graphs(const Model& model, const Options& options,
                                       int64_t& restored) {
  std::vector<PrunedGraph> all;
  for (const Member& member : model.members()) {
    const LabelGraphView& graph = member.weights.graph;
    all.push_back(options.top > 0 ? top_edges(graph, static_cast<size_t>(options.top))
                                  : edges_above(graph, options.threshold));
    restored += restore_best_edges(graph, all.back());
  }
  return all;
}

void write_pruned(const Model& model, const std::vector<PrunedGraph>& pruned,
                  const std::string& folder) {
  const LabelSpace labels = model.label_space();
  ModelParts parts = parts_of(model, labels);
  for (size_t m = 0; m < pruned.size(); ++m) parts.members[m].weights.graph = pruned[m].view();
  replace_model(folder, [&](const std::string& beside) {
    write_model(beside, parts, LabelStorage::kFloat32);  // as they are
  });
}

void run(const Options& options, const Global& global) {
  check_options(options);
  ThreadPool pool(global.threads);
  const Context context(pool);
  const Model model = Model::load(options.model, context);
  if (!model.first().weights.cluster_weights) {
    throw InputError("{}: has no index to prune: it scores every label of every point",
                     options.model);
  }
  std::optional<TestPoints> test;  // read first: a wrong file is an error before anything is made
  if (!options.test.empty()) {
    test = read_test_points(options.test, options.data.read_options(), model, pool);
  }

  int64_t restored = 0;
  write_pruned(model, pruned_graphs(model, options, restored), options.out);

  const Model smaller = Model::load(options.out, context);
  PruneResult result{.before = model, .after = smaller, .restored = restored};
  if (test) {
    result.test.emplace(PruneResult::Figures{.before = evaluate_on(*test, model, context),
                                             .after = evaluate_on(*test, smaller, context)});
  }
  fmt::print("{}", prune_report(result));
}

}  // namespace

void add_prune(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("prune", "Write a smaller model, with fewer edges");
  verb->footer(kExamples);
  verb->add_option("DIR", options->model, "The model: the folder that 'elias fit' wrote")
      ->required();
  verb->add_option("--threshold", options->threshold, "Keep edges with a score above this")
      ->check(number_range(0.0, 1.0))
      ->type_name("SCORE");
  verb->add_option("--top", options->top, "Keep this many of the strongest edges of each cluster")
      ->check(number_range(int64_t{1}, kMostEdges))
      ->type_name("N");
  verb->add_option("--out", options->out, "Folder of the smaller model")
      ->required()
      ->type_name("DIR");
  verb->add_option("--test", options->test, "Points with their true labels: figures before, after")
      ->type_name("FILE");
  options->data.add_format_to(*verb);
  verb->add_flag("--overwrite", options->overwrite, "Replace a model in the folder of --out");
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
