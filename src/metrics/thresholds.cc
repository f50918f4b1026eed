#include "metrics/thresholds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/errors.h"
#include "metrics/label_totals.h"

namespace elias {
namespace {

double share_of(uint64_t part, uint64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Walks down a list of pairs, best first, and remembers where it would be cut.
class Cut {
 public:
  /// `predicted` pairs, with `hits` true ones among them, count wherever it is cut.
  Cut(const ThresholdGoal& goal, uint64_t positives, uint64_t predicted = 0, uint64_t hits = 0)
      : goal_(goal), positives_(positives), predicted_(predicted), hits_(hits) {}

  void add(float score, bool hit) {
    if (first_) consider(std::nextafter(score, std::numeric_limits<float>::infinity()));
    if (!first_ && score < last_) consider(halfway(score, last_));
    first_ = false;
    last_ = score;
    ++predicted_;
    hits_ += hit;
  }

  /// The threshold; empty if no place to cut reaches the goal.
  std::optional<float> finish() {
    consider(last_);
    return found_ ? std::optional(threshold_) : std::nullopt;
  }

 private:
  /// Above `low`, even where there is no number between the two.
  static float halfway(float low, float high) {
    const float middle = low + (high - low) / 2;
    return middle > low ? middle : high;
  }

  void consider(float threshold) {
    switch (goal_.aim) {
      case ThresholdAim::kF1: {
        const double f1 = f1_score(hits_, predicted_, positives_);
        if (f1 > best_f1_) take(threshold);
        best_f1_ = std::max(best_f1_, f1);
        break;
      }
      case ThresholdAim::kPrecision:
        if (share_of(hits_, predicted_) >= goal_.share) take(threshold);
        break;
      case ThresholdAim::kRecall:
        if (!found_ && share_of(hits_, positives_) >= goal_.share) take(threshold);
        break;
    }
  }

  void take(float threshold) {
    threshold_ = threshold;
    found_ = true;
  }

  const ThresholdGoal& goal_;
  uint64_t positives_;
  uint64_t predicted_, hits_;  // of the pairs so far
  bool first_ = true;
  float last_ = 1;
  double best_f1_ = 0;
  float threshold_ = 0;
  bool found_ = false;
};

}  // namespace

void keep_predicted(const Thresholds& thresholds, Csr& scores) {
  size_t kept = 0, read = 0;
  for (size_t row = 0; row < scores.rows(); ++row) {
    const size_t end = scores.offsets[row + 1];
    for (; read < end; ++read) {
      if (scores.values[read] < thresholds.of(scores.columns[read])) continue;
      scores.columns[kept] = scores.columns[read];
      scores.values[kept++] = scores.values[read];
    }
    scores.offsets[row + 1] = kept;
  }
  scores.columns.resize(kept);
  scores.values.resize(kept);
}

double ThresholdFigures::precision() const { return share_of(hits, predicted); }
double ThresholdFigures::recall() const { return share_of(hits, positives); }
double ThresholdFigures::f1() const { return f1_score(hits, predicted, positives); }
double ThresholdFigures::labels_per_point() const { return share_of(predicted, rows); }

ThresholdSearch::ThresholdSearch(const Csr& truth, const Csr& scores)
    : rows_(truth.rows()), labels_(scores.cols), offsets_(scores.cols + 1) {
  ELIAS_ASSERT(truth.rows() == scores.rows());
  positives_.fill(std::vector<uint32_t>(labels_));
  by_score_.reserve(scores.nonzeros());
  for (size_t row = 0; row < rows_; ++row) {
    add_row(truth.row(row), scores.row(row), static_cast<uint8_t>(row % kParts));
  }
  const std::vector<uint64_t> counts = column_counts(truth);
  for (size_t l = labels_; l < counts.size(); ++l) unknown_labels_ += counts[l] > 0;
  // Of equal scores the order does not matter: no threshold lies between them.
  std::ranges::sort(by_score_, std::greater(), &Pair::score);
  for (const Pair& pair : by_score_) ++offsets_[pair.label + 1];
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  by_label_.resize(by_score_.size());
  std::vector<uint64_t> next(offsets_.begin(), offsets_.end() - 1);
  for (const Pair& pair : by_score_) by_label_[next[pair.label]++] = pair;
}

void ThresholdSearch::add_row(const CsrRow& truth, const CsrRow& scores, uint8_t part) {
  for (size_t i = 0; i < truth.size(); ++i) {
    if (!(truth.values[i] > 0)) continue;
    const uint32_t label = truth.columns[i];
    label < labels_ ? ++positives_[part][label] : ++unknown_positives_[part];
  }
  size_t next = 0;  // both rows rise
  for (size_t i = 0; i < scores.size(); ++i) {
    const uint32_t label = scores.columns[i];
    while (next < truth.size() && truth.columns[next] < label) ++next;
    const bool hit = next < truth.size() && truth.columns[next] == label && truth.values[next] > 0;
    by_score_.push_back({scores.values[i], label, part, hit});
  }
}

std::span<const ThresholdSearch::Pair> ThresholdSearch::pairs_of(uint32_t label) const {
  return std::span(by_label_).subspan(offsets_[label], offsets_[label + 1] - offsets_[label]);
}

uint64_t ThresholdSearch::positives(uint32_t label, std::optional<size_t> without) const {
  uint64_t sum = 0;
  for (size_t part = 0; part < kParts; ++part) {
    if (part != without) sum += positives_[part][label];
  }
  return sum;
}

uint64_t ThresholdSearch::all_positives(std::optional<size_t> without) const {
  uint64_t sum = 0;
  for (size_t part = 0; part < kParts; ++part) {
    if (part == without) continue;
    sum = std::accumulate(positives_[part].begin(), positives_[part].end(),
                          sum + unknown_positives_[part]);
  }
  return sum;
}

std::optional<Thresholds> ThresholdSearch::find(const Options& options,
                                                std::optional<size_t> without) const {
  if (options.least_own) return find_by_label(options, without);
  Cut cut(options.goal, all_positives(without));
  for (const Pair& pair : by_score_) {
    if (pair.part != without) cut.add(pair.score, pair.hit);
  }
  const auto common = cut.finish();
  if (!common) return {};
  return Thresholds{.goal = options.goal, .common = *common, .own = 0, .by_label = {}};
}

std::optional<Thresholds> ThresholdSearch::find_by_label(const Options& options,
                                                         std::optional<size_t> without) const {
  std::vector<std::optional<float>> own(labels_);
  uint64_t predicted = 0, hits = 0;  // by thresholds of labels' own
  for (uint32_t label = 0; label < labels_; ++label) {
    const uint64_t known = positives(label, without);
    if (known < *options.least_own) continue;
    Cut cut(options.goal, known);
    for (const Pair& pair : pairs_of(label)) {
      if (pair.part != without) cut.add(pair.score, pair.hit);
    }
    own[label] = cut.finish();
    if (!own[label]) continue;
    for (const Pair& pair : pairs_of(label)) {
      const bool counts = pair.part != without && pair.score >= *own[label];
      predicted += counts;
      hits += counts && pair.hit;
    }
  }
  Cut cut(options.goal, all_positives(without), predicted, hits);
  for (const Pair& pair : by_score_) {
    if (pair.part != without && !own[pair.label]) cut.add(pair.score, pair.hit);
  }
  const auto common = cut.finish();
  if (!common) return {};
  Thresholds thresholds{
      .goal = options.goal, .common = *common, .own = 0, .by_label = std::vector<float>(labels_)};
  for (uint32_t label = 0; label < labels_; ++label) {
    thresholds.own += own[label].has_value();
    thresholds.by_label[label] = own[label].value_or(*common);
  }
  return thresholds;
}

void ThresholdSearch::count(const Thresholds& thresholds, std::optional<size_t> part,
                            std::vector<LabelCounts>& counts) const {
  for (const Pair& pair : by_score_) {
    if (part && pair.part != part) continue;
    if (pair.score < thresholds.of(pair.label)) continue;
    ++counts[pair.label].predicted;
    counts[pair.label].hits += pair.hit;
  }
}

ThresholdFigures ThresholdSearch::sum_up(const std::vector<LabelCounts>& counts) const {
  ThresholdFigures figures{.rows = rows_, .positives = all_positives()};
  uint64_t labels = 0;
  for (uint32_t label = 0; label < labels_; ++label) {
    const auto [predicted, hits] = counts[label];
    figures.predicted += predicted;
    figures.hits += hits;
    const uint64_t known = positives(label);
    if (known == 0) continue;
    figures.macro_f1 += f1_score(hits, predicted, known);
    ++labels;
  }
  labels += unknown_labels_;
  if (labels > 0) figures.macro_f1 /= static_cast<double>(labels);
  return figures;
}

ThresholdFigures ThresholdSearch::figures(const Thresholds& thresholds) const {
  std::vector<LabelCounts> counts(labels_);
  count(thresholds, {}, counts);
  return sum_up(counts);
}

std::optional<ThresholdFigures> ThresholdSearch::tested_figures(const Options& options) const {
  if (rows_ < kParts) return {};
  std::vector<LabelCounts> counts(labels_);
  for (size_t part = 0; part < kParts; ++part) {
    const auto thresholds = find(options, part);
    if (!thresholds) return {};
    count(*thresholds, part, counts);
  }
  return sum_up(counts);
}

uint64_t ThresholdSearch::unknown_positives() const {
  return std::accumulate(unknown_positives_.begin(), unknown_positives_.end(), uint64_t{0});
}

double ThresholdSearch::most_precision() const {
  uint64_t predicted = 0, hits = 0;
  double most = 0;
  for (size_t i = 0; i < by_score_.size(); ++i) {
    ++predicted;
    hits += by_score_[i].hit;
    const bool last_of_its_score =
        i + 1 == by_score_.size() || by_score_[i + 1].score < by_score_[i].score;
    if (last_of_its_score) most = std::max(most, share_of(hits, predicted));
  }
  return most;
}

double ThresholdSearch::most_recall() const {
  const auto hits = static_cast<uint64_t>(std::ranges::count_if(by_score_, &Pair::hit));
  return share_of(hits, all_positives());
}

}  // namespace elias
