// elias explain: why labels were predicted for points, or were not. docs/explain.md says how to
// read it.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/model_input.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "data/io/byte_sink.h"
#include "report/explain_report.h"
#include "report/find_label.h"
#include "report/model_points.h"

namespace elias::cli {
namespace {

constexpr int64_t kMostLabels = 1000;
constexpr size_t kMostWords = 1000;

struct Options {
  ModelInput from;
  std::vector<std::string> labels;
  int64_t k = 5;
  size_t words = 8;
  uint64_t points = 0;  // 0: all
  bool json = false;
};

constexpr const char* kExamples = R"(Examples:
  The clusters and words that led to the three best labels of a text:
    echo 'green tea' | elias explain --model model/ --input - --k 3

  Why the point on line 37 did not get a label:
    sed -n 37p test.tsv | elias explain --model model/ --input - --label 'black tea'

  The first ten points of a file; true labels are marked:
    elias explain --model model/ --input test.tsv --points 10 | less

  For programs, an object a line:
    elias explain --model model/ --input test.tsv --json | jq -c '.labels[0].ranker.words')";

class ExplainRun {
 public:
  ExplainRun(const Options& options, int threads)
      : options_(options),
        pool_(threads),
        context_(pool_),
        model_(Model::load(options.from.model, context_)),
        explainer_(context_, model_),
        space_(model_.label_space()),
        sink_(create_bytes("-")) {
    for (const std::string& name : options.labels) {
      labels_.push_back(find_label(model_, options.from.model, name, pool_));
    }
  }

  void run() {
    const ReadOptions reading = options_.from.read_options(model_, ReadOptions::Labels::kOptional);
    const auto reader = open_points(options_.from.input, reading, space_, pool_);
    for (PointBatch batch; !enough() && reader->next(batch);) {
      check_points(reader->info(), model_);
      explain(batch, reader->info());
      if (reading.as_it_comes) sink_->flush();
    }
    sink_->commit();
  }

 private:
  bool enough() const { return options_.points != 0 && explained_ == options_.points; }

  void explain(PointBatch& batch, const SourceInfo& source) {
    const Points points =
        model_points(source, batch.texts, std::move(batch.features), model_, pool_);
    const int64_t k = std::min(options_.k, static_cast<int64_t>(model_.labels()));
    for (size_t i = 0; i < points.features.rows() && !enough(); ++i) {
      const PointExplanation point{
          .number = ++explained_,
          .line = batch.lines.empty() ? 0 : batch.lines[i],
          .text = model_.tfidf() != nullptr ? batch.texts.row(i) : std::string_view(),
          .features = points.features.row(i).size(),
          .truth = batch.labels.row(i),
          .space = space_,
          .labels = explainer_.explain(points, i, k, labels_)};
      write(point);
    }
  }

  void write(const PointExplanation& point) {
    if (options_.json) {
      const auto json = explanation_json(model_, point, options_.words);
      const auto replace = nlohmann::ordered_json::error_handler_t::replace;
      sink_->write(json.dump(-1, ' ', false, replace) + "\n");
      return;
    }
    if (point.number == 1) sink_->write(explanation_legend(model_));
    sink_->write(explanation_report(model_, point, options_.words));
  }

  const Options& options_;
  ThreadPool pool_;
  Context context_;
  Model model_;
  Explainer explainer_;
  LabelSpace space_;
  std::unique_ptr<ByteSink> sink_;
  std::vector<uint32_t> labels_;
  uint64_t explained_ = 0;
};

}  // namespace

void add_explain(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("explain", "Show what led to the labels of points");
  verb->footer(kExamples);
  options->from.add_to(*verb, "with or without labels");
  CLI::Option* k = verb->add_option("--k", options->k, "Labels a point, the best ones")
                       ->check(number_range(int64_t{1}, kMostLabels))
                       ->type_name("N")
                       ->capture_default_str();
  verb->add_option("--label", options->labels,
                   "Explain this label in place of the best, found or not; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->excludes(k);
  verb->add_option("--words", options->words,
                   "Words to name for a label, those that say most for or against it")
      ->check(number_range(size_t{0}, kMostWords))
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--points", options->points, "Explain the first N points alone")
      ->check(number_range(uint64_t{1}, uint64_t{1'000'000'000}))
      ->type_name("N");
  verb->add_flag("--json", options->json, "Print JSON, an object a line");
  verb->callback([options, &global] { ExplainRun(*options, global.threads).run(); });
}

}  // namespace elias::cli
