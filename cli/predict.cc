// elias predict: the best labels of points, by a model that `elias fit` wrote.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "base/progress.h"
#include "base/readable.h"
#include "cli/index_option.h"
#include "cli/model_input.h"
#include "cli/number_range.h"
#include "cli/prediction_writer.h"
#include "cli/threshold_option.h"
#include "cli/verbs.h"
#include "data/io/line_reader.h"
#include "model/model.h"
#include "report/model_points.h"

namespace elias::cli {
namespace {

constexpr int64_t kMostLabels = 1'000'000;
constexpr int64_t kDefaultLabels = 5;

struct Options {
  ModelInput from;
  std::string format = "tsv", output = "-", candidates;
  int64_t k = 0;  // 0: not given
  IndexOption index;
  ThresholdOption threshold;
};

constexpr const char* kExamples = R"(Examples:
  The five best labels of each text, a line for each line:
    elias predict --model model/ --input texts.txt > predictions.tsv

  As a filter; every line is answered at once:
    echo 'green tea' | elias predict --model model/ --input - --k 3

  A hundred labels a point as a scipy matrix, and its evaluation:
    elias predict --model model/ --input test.tsv --k 100 --format npz --out scores.npz
    elias evaluate --model model/ --test test.tsv

  All labels from a probability of 0.3 on, however few or many; or from the thresholds
  that 'elias threshold' chose:
    elias predict --model model/ --input texts.txt --threshold 0.3
    elias predict --model model/ --input texts.txt --threshold auto

  Only labels that are in stock, a name a line:
    elias predict --model model/ --input texts.txt --candidates stock.txt --format jsonl)";

// The labels that are named; all if there is no file.
AllowedLabels read_candidates(const std::string& path, const Model& model) {
  if (path.empty()) return {};
  std::vector<uint8_t> allowed(model.labels());
  LineReader reader(open_bytes(path));
  for (LineBlock block; reader.next(block);) {
    std::string_view left = block.bytes;
    for (uint64_t line = block.first_line; !left.empty(); ++line) {
      const std::string_view name = take_line(left);
      const auto label = model.find_label(name);
      if (!label) {
        throw InputError("{}: the model has no label {}: give its labels, one a line",
                         place(path, line), shown(name));
      }
      allowed[*label] = 1;
    }
  }
  if (std::find(allowed.begin(), allowed.end(), 1) == allowed.end()) {
    throw InputError("{}: is empty: give the labels that may be predicted, one a line", path);
  }
  return AllowedLabels(std::move(allowed));
}

class PredictRun {
 public:
  PredictRun(const Options& options, int threads)
      : options_(options),
        pool_(threads),
        context_(pool_),
        model_(options.index.load(options.from.model, context_)),
        state_(model_.predictor().make_state()),
        thresholds_(options.threshold.given()
                        ? std::optional(options.threshold.of(model_, options.from.model))
                        : std::nullopt),
        k_(std::min(labels_asked_for(), static_cast<int64_t>(model_.labels()))),
        allowed_(read_candidates(options.candidates, model_)) {}

  void run() {
    const ReadOptions reading = options_.from.read_options(model_, ReadOptions::Labels::kIgnored);
    say_if_shortlist_is_shorter();
    const auto writer = create_predictions(options_.output, options_.format, model_);
    LabelSpace ignored;  // labels of the input need not be known to the model
    const auto reader = open_points(options_.from.input, reading, ignored, pool_);
    Progress progress("predicting", "points", reader->info().promised_rows.value_or(0));
    for (PointBatch batch; reader->next(batch);) {
      check_points(reader->info(), model_);  // nothing, of no kind, is input as well
      writer->write(predict(
          model_points(reader->info(), batch.texts, std::move(batch.features), model_, pool_)));
      if (reading.as_it_comes) writer->flush();
      progress.advance(batch.rows());
    }
    writer->commit();
  }

 private:
  int64_t labels_asked_for() const {
    if (options_.k > 0) return options_.k;
    return thresholds_ ? Thresholds::kDepth : kDefaultLabels;
  }

  void say_if_shortlist_is_shorter() const {
    const int64_t K = most_found(model_);
    const bool cut = allowed_.all() || static_cast<int64_t>(allowed_.list().size()) > K;
    if (!model_.first().weights.cluster_weights || k_ <= K || !cut) return;
    fmt::print(stderr, "elias: --k {}: the model finds at most {} for a point, its shortlist\n", k_,
               counted(static_cast<uint64_t>(K), "label"));
  }

  Csr predict(const PointsView& points) {
    Csr scores = best_labels(points);
    if (thresholds_) keep_predicted(*thresholds_, scores);
    return scores;
  }

  Csr best_labels(const PointsView& points) {
    if (points.rows() != 1) {
      return predict_all(context_, model_.predictor(), points, k_, allowed_);
    }
    // A line of a conversation: with room that is kept from line to line.
    labels_.resize(static_cast<size_t>(k_));
    scores_.resize(labels_.size());
    model_.predictor().predict(context_, points, 0, 1, k_, allowed_, *state_, {labels_, scores_});
    Csr row;
    row.cols = model_.labels();
    for (size_t i = 0; i < labels_.size() && labels_[i] >= 0; ++i) {
      row.columns.push_back(static_cast<uint32_t>(labels_[i]));
      row.values.push_back(scores_[i]);
    }
    row.finish_row(Csr::Repeats::kSum);
    return row;
  }

  const Options& options_;
  ThreadPool pool_;
  Context context_;
  Model model_;
  std::unique_ptr<Predictor::State> state_;
  std::optional<Thresholds> thresholds_;  // none: the k best whatever their score
  int64_t k_;
  AllowedLabels allowed_;
  std::vector<int32_t> labels_;
  std::vector<float> scores_;
};

}  // namespace

void add_predict(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("predict", "Find the best labels of points");
  verb->footer(kExamples);
  options->from.add_to(*verb, "whose labels are ignored");
  verb->add_option("--k", options->k, "Labels a point, at most (default: 5, with --threshold 100)")
      ->check(number_range(int64_t{1}, kMostLabels))
      ->type_name("N");
  options->index.add_to(*verb);
  options->threshold.add_to(*verb,
                            "Predict only labels with this score or a higher one; auto: with the "
                            "thresholds that 'elias threshold' chose");
  verb->add_option("--format", options->format,
                   "tsv: name::score,name::score; jsonl: labels and scores; npz: a matrix")
      ->check(CLI::IsMember({"tsv", "jsonl", "npz"}).description(""))
      ->type_name("tsv|jsonl|npz")
      ->capture_default_str();
  verb->add_option("--out", options->output, "File to write, - for standard output; .gz compresses")
      ->type_name("FILE")
      ->capture_default_str();
  verb->add_option("--candidates", options->candidates,
                   "Predict only the labels in this file, one a line")
      ->type_name("FILE");
  verb->callback([options, &global] { PredictRun(*options, global.threads).run(); });
}

}  // namespace elias::cli
