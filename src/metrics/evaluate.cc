// evaluate() below is the entry point: a pass over the rows (row_pass.h) that fills sums, then
// arithmetic that turns the sums into figures.
#include "metrics/evaluate.h"

#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "metrics/label_totals.h"
#include "metrics/row_pass.h"

namespace elias {
namespace {

constexpr size_t kRowsPerChunk = 512;
constexpr float kDefaultThreshold = 0.5f;

EvaluateSetting make_setting(const Csr& truth, const Csr& scores, const Training* training,
                             const EvaluateOptions& options, const std::string& source) {
  size_t labels = std::max(truth.cols, scores.cols);
  if (training) labels = std::max(labels, training->counts.size());
  EvaluateSetting setting{.truth = truth,
                          .scores = scores,
                          .options = options,
                          .source = source,
                          .threshold = options.threshold.value_or(kDefaultThreshold),
                          .discounts = Discounts(options.cutoffs.deepest()),
                          .counts = {},
                          .weights = {},
                          .group_of = std::vector<uint8_t>(labels),
                          .positives = column_counts(truth)};
  setting.positives.resize(labels);
  if (training) {
    setting.counts = training->counts;
    setting.counts.resize(labels);
    setting.weights = inverse_propensities(setting.counts, training->points, training->propensity);
    if (options.groups) setting.group_of = label_deciles(setting.counts).group_of;
  }
  return setting;
}

EvaluateSums sum_rows(const EvaluateSetting& setting, LabelTotals& labels, ThreadPool& pool) {
  const size_t rows = setting.truth.rows();
  std::vector<EvaluateSums> chunks(chunk_count(rows, kRowsPerChunk), EvaluateSums(setting.options));
  pool.for_chunks(rows, kRowsPerChunk, [&](size_t chunk, size_t begin, size_t end) {
    RowPass pass(setting, labels, chunks[chunk]);
    pass.add_rows(begin, end);
  });
  EvaluateSums total(setting.options);
  for (const EvaluateSums& chunk : chunks) total.add(chunk);
  return total;
}

/// The figures that are counted label by label, over the labels of one group or all.
struct LabelSums {
  uint64_t labels = 0;  // with a true pair
  uint64_t positives = 0, predicted = 0, hits = 0;
  double f1 = 0;
  std::vector<uint64_t> covered;  // by cut-off

  template <typename In>
  LabelSums(const EvaluateSetting& setting, const LabelTotals& totals, In in)
      : covered(setting.options.cutoffs.k.size()) {
    for (size_t l = 0; l < setting.positives.size(); ++l) {
      if (!in(l)) continue;
      predicted += totals.predicted[l];
      if (setting.positives[l] == 0) continue;
      ++labels;
      positives += setting.positives[l];
      hits += totals.hits[l];
      f1 += f1_score(totals.hits[l], totals.predicted[l], setting.positives[l]);
      for (size_t i = 0; i < covered.size(); ++i) {
        covered[i] += totals.best_rank[l] <= setting.options.cutoffs.k[i];
      }
    }
  }
};

double share(double part, uint64_t whole) {
  return whole > 0 ? part / static_cast<double>(whole) : 0;
}

std::vector<Metric> figures(const EvaluateSetting& setting, const RankingSums& ranking,
                            const LabelSums& labels, const Calibration& calibration,
                            bool probabilities) {
  const Cutoffs& cutoffs = setting.options.cutoffs;
  std::vector<Metric> result;
  const auto add = [&](const char* name, const std::vector<uint32_t>& list, auto value) {
    for (size_t i = 0; i < list.size(); ++i) {
      result.push_back({fmt::format("{}@{}", name, list[i]), value(i)});
    }
  };
  const uint64_t rows = setting.truth.rows();
  add("P", cutoffs.k, [&](size_t i) { return ranking.precision(i, rows, cutoffs.k[i]); });
  add("nDCG", cutoffs.k, [&](size_t i) { return ranking.ndcg(i); });
  if (!setting.weights.empty()) {
    add("PSP", cutoffs.k, [&](size_t i) { return ranking.psp(i); });
    add("PSnDCG", cutoffs.k, [&](size_t i) { return ranking.psndcg(i); });
  }
  add("R", cutoffs.recall, [&](size_t i) { return ranking.recall(i); });
  add("MRR", cutoffs.mrr, [&](size_t i) { return ranking.mrr(i); });
  add("coverage", cutoffs.k,
      [&](size_t i) { return share(static_cast<double>(labels.covered[i]), labels.labels); });
  if (setting.options.threshold || probabilities) {
    result.push_back({"micro-F1", f1_score(labels.hits, labels.predicted, labels.positives)});
    result.push_back({"macro-F1", share(labels.f1, labels.labels)});
  }
  if (probabilities) result.push_back({"ECE", calibration.error(), true});
  return result;
}

std::vector<GroupFigures> group_figures(const EvaluateSetting& setting, const EvaluateSums& sums,
                                        const LabelTotals& totals) {
  std::vector<GroupFigures> groups;
  for (size_t g = 0; g < LabelDeciles::kGroups; ++g) {
    const LabelSums labels(setting, totals, [&](size_t l) { return setting.group_of[l] == g; });
    const RankingSums& ranking = sums.ranking[1 + g];
    groups.push_back({labels.labels, labels.positives, ranking.rows(),
                      figures(setting, ranking, labels, sums.calibration[g], sums.probabilities)});
  }
  return groups;
}

/// An evaluation with its counts, as yet without figures.
Evaluation counted(const EvaluateSetting& setting, const EvaluateSums& sums,
                   const LabelSums& labels) {
  Evaluation result;
  result.rows = setting.truth.rows();
  result.rows_without_positives = result.rows - sums.ranking[0].rows();
  result.rows_without_predictions = sums.rows_without_predictions;
  result.rows_all_unseen = sums.rows_all_unseen;
  result.positives = labels.positives;
  for (size_t l = 0; l < setting.counts.size(); ++l) {
    if (setting.counts[l] == 0) result.unseen_positives += setting.positives[l];
  }
  result.predictions = setting.scores.nonzeros();
  result.labels = labels.labels;
  result.probabilities = sums.probabilities;
  result.threshold = setting.options.threshold;
  if (sums.probabilities) result.threshold = setting.threshold;
  result.label_thresholds = !setting.options.label_thresholds.empty();
  return result;
}

std::vector<LabelFigures> label_figures(const EvaluateSetting& setting, const LabelTotals& totals) {
  std::vector<LabelFigures> labels;
  for (size_t l = 0; l < setting.positives.size(); ++l) {
    labels.push_back({setting.positives[l], totals.listed[l], totals.listed_hits[l],
                      totals.predicted[l], totals.hits[l]});
  }
  return labels;
}

}  // namespace

double LabelFigures::precision() const { return share(static_cast<double>(hits), predicted); }
double LabelFigures::recall() const { return share(static_cast<double>(hits), positives); }
double LabelFigures::f1() const { return f1_score(hits, predicted, positives); }
double LabelFigures::f1_at_threshold() const {
  return f1_score(hits_at_threshold, predicted_at_threshold, positives);
}

std::optional<double> Evaluation::find(std::string_view name) const {
  for (const Metric& metric : metrics) {
    if (metric.name == name) return metric.value;
  }
  return std::nullopt;
}

Evaluation evaluate(const Csr& truth, const Csr& scores, const Training* training,
                    const EvaluateOptions& options, ThreadPool& pool, const std::string& source) {
  ELIAS_ASSERT(truth.rows() == scores.rows());
  ELIAS_ASSERT(truth.rows() < std::numeric_limits<uint32_t>::max());
  ELIAS_ASSERT(!options.groups || training);
  ELIAS_ASSERT(options.label_thresholds.empty() || options.label_thresholds.size() >= scores.cols);
  ELIAS_ASSERT(!options.labels || !options.cutoffs.k.empty());
  const EvaluateSetting setting = make_setting(truth, scores, training, options, source);
  const uint32_t k = options.cutoffs.k.empty() ? 0 : options.cutoffs.k.back();
  LabelTotals totals(setting.positives.size(), setting.threshold, options.label_thresholds, k);
  const EvaluateSums sums = sum_rows(setting, totals, pool);

  const LabelSums all(setting, totals, [](size_t) { return true; });
  Evaluation result = counted(setting, sums, all);
  for (const Calibration& group : sums.calibration) result.calibration.add(group);
  result.metrics = figures(setting, sums.ranking[0], all, result.calibration, sums.probabilities);
  if (options.groups) result.groups = group_figures(setting, sums, totals);
  if (options.labels) result.by_label = label_figures(setting, totals);
  return result;
}

}  // namespace elias
