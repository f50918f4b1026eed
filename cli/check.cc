// elias check: looks at data files and tells what is in them and what is odd.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/data_options.h"
#include "cli/verbs.h"
#include "data/check/doctor.h"
#include "report/check_report.h"

namespace elias::cli {
namespace {

struct Options {
  DataOptions data;
  std::vector<std::string> inputs;
  bool json = false;
};

void run(const Options& options, const Global& global) {
  ThreadPool pool(global.threads);
  LabelSpace labels = options.data.label_space();
  DataDoctor doctor(pool);
  for (const auto& path : expand_folders(options.inputs)) {
    const auto reader = open_points(path, options.data.read_options(), labels, pool);
    doctor.examine(*reader);
  }
  const CheckReport report = doctor.finish(labels);
  if (options.json) {
    print_check_json(report);
  } else {
    print_check_report(report);
  }
}

}  // namespace

void add_check(CLI::App& app, const Global& global) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("check", "Look at data files: what is in them, what is odd");
  verb->add_option(
          "FILE", options->inputs,
          "Data files, the training set first; - is standard input, X,Y a pair of files, a "
          "folder one with X.trn.npz and Y.trn.npz")
      ->required();
  options->data.add_to(*verb);
  verb->add_flag("--json", options->json, "Print the report as JSON");
  verb->footer(
      "Examples:\n"
      "  elias check trn.txt tst.txt --labels labels.txt\n"
      "  zcat trn.json.gz | elias check - --json\n"
      "  elias check trn_X_Xf.txt,trn_X_Y.txt tst_X_Xf.txt,tst_X_Y.txt");
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
