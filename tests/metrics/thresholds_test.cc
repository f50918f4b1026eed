#include "metrics/thresholds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/random.h"

namespace elias {
namespace {

/// N x L with few distinct scores, so that many are equal; the truth has two labels more.
struct Sample {
  static constexpr uint64_t kLabels = 9;
  Csr truth, scores;

  explicit Sample(uint64_t seed, size_t rows = 60) {
    truth.cols = kLabels + 2;
    scores.cols = kLabels;
    RandomSequence random(seed, 0);
    for (size_t row = 0; row < rows; ++row) {
      for (uint32_t label = 0; label < truth.cols; ++label) {
        const bool is_true = random.below(4) == 0;
        if (is_true || random.below(9) == 0) add(truth, label, is_true ? 1.0f : 0.0f);
        if (label >= kLabels || random.below(3) == 0) continue;
        const auto score = static_cast<float>(random.below(12) + (is_true ? 6 : 0)) / 20;
        add(scores, label, score);
      }
      truth.finish_row(Csr::Repeats::kSum);
      scores.finish_row(Csr::Repeats::kSum);
    }
  }

  static void add(Csr& matrix, uint32_t column, float value) {
    matrix.columns.push_back(column);
    matrix.values.push_back(value);
  }

  bool is_true(size_t row, uint32_t label) const {
    const CsrRow known = truth.row(row);
    const auto place = std::ranges::find(known.columns, label);
    return place != known.columns.end() && known.values[place - known.columns.begin()] > 0;
  }
};

struct Counts {
  double predicted = 0, hits = 0, positives = 0;
  double precision() const { return predicted > 0 ? hits / predicted : 0; }
  double recall() const { return positives > 0 ? hits / positives : 0; }
  double f1() const { return 2 * hits / (predicted + positives); }
};

using ThresholdOf = std::function<float(uint32_t label)>;

/// Of the labels in `labels`, by looking at every pair.
Counts count(const Sample& sample, const std::set<uint32_t>& labels, const ThresholdOf& of) {
  Counts counts;
  for (size_t row = 0; row < sample.truth.rows(); ++row) {
    for (const uint32_t label : labels) counts.positives += sample.is_true(row, label);
    const CsrRow scores = sample.scores.row(row);
    for (size_t i = 0; i < scores.size(); ++i) {
      if (!labels.contains(scores.columns[i])) continue;
      if (scores.values[i] < of(scores.columns[i])) continue;
      ++counts.predicted;
      counts.hits += sample.is_true(row, scores.columns[i]);
    }
  }
  return counts;
}

Counts count(const Sample& sample, const std::set<uint32_t>& labels, float threshold) {
  return count(sample, labels, [=](uint32_t) { return threshold; });
}

/// No other threshold, of all that could make a difference, serves the goal better. Labels in
/// `fixed` keep theirs.
void expect_best(const Sample& sample, const std::set<uint32_t>& labels, const ThresholdGoal& goal,
                 float threshold, const std::map<uint32_t, float>& fixed = {}) {
  const auto with = [&](float common) {
    return count(sample, labels, [&, common](uint32_t label) {
      return fixed.contains(label) ? fixed.at(label) : common;
    });
  };
  const Counts chosen = with(threshold);
  const bool precision = goal.aim == ThresholdAim::kPrecision;
  if (goal.aim != ThresholdAim::kF1) {
    EXPECT_GE(precision ? chosen.precision() : chosen.recall(), goal.share);
  }
  for (const float other : sample.scores.values) {
    const Counts there = with(other);
    if (goal.aim == ThresholdAim::kF1) {
      EXPECT_LE(there.f1(), chosen.f1() + 1e-12);
    } else if (precision && there.precision() >= goal.share) {
      EXPECT_LE(there.predicted, chosen.predicted);
    } else if (!precision && there.recall() >= goal.share) {
      EXPECT_GE(there.predicted, chosen.predicted);
    }
  }
}

bool can_reach(const Sample& sample, uint32_t label, const ThresholdGoal& goal) {
  return std::ranges::any_of(sample.scores.values, [&](float threshold) {
    const Counts there = count(sample, {label}, threshold);
    if (goal.aim == ThresholdAim::kF1) return there.hits > 0;
    return (goal.aim == ThresholdAim::kPrecision ? there.precision() : there.recall()) >=
           goal.share;
  });
}

std::set<uint32_t> all_labels() {
  std::set<uint32_t> labels;
  for (uint32_t label = 0; label < Sample::kLabels + 2; ++label) labels.insert(label);
  return labels;
}

constexpr ThresholdGoal kGoals[] = {
    {}, {ThresholdAim::kPrecision, 0.6}, {ThresholdAim::kRecall, 0.3}};

TEST(Thresholds, TheCommonOneIsTheBestOfAll) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Sample sample(seed);
    const ThresholdSearch search(sample.truth, sample.scores);
    for (const ThresholdGoal& goal : kGoals) {
      const auto found = search.find({.goal = goal, .least_own = {}});
      ASSERT_TRUE(found);
      EXPECT_TRUE(found->by_label.empty());
      expect_best(sample, all_labels(), goal, found->common);
    }
  }
}

TEST(Thresholds, OfLabelsAreTheBestOfEach) {
  const Sample sample(7);
  const ThresholdSearch search(sample.truth, sample.scores);
  for (const ThresholdGoal& goal : kGoals) {
    const auto found = search.find({.goal = goal, .least_own = 15});
    ASSERT_TRUE(found);
    ASSERT_EQ(found->by_label.size(), Sample::kLabels);
    std::map<uint32_t, float> own;
    for (uint32_t label = 0; label < Sample::kLabels; ++label) {
      const bool enough = count(sample, {label}, 2).positives >= 15;
      const float threshold = found->of(label);
      if (!enough || !can_reach(sample, label, goal)) {
        EXPECT_EQ(threshold, found->common);
        continue;
      }
      own[label] = threshold;
      expect_best(sample, {label}, goal, threshold);
    }
    EXPECT_EQ(found->own, own.size());
    EXPECT_GT(own.size(), 0u);
    EXPECT_LT(own.size(), Sample::kLabels);
    expect_best(sample, all_labels(), goal, found->common, own);
  }
}

TEST(Thresholds, LieBetweenScores) {
  Sample sample(1, 0);
  for (const float score : {0.8f, 0.4f}) {
    Sample::add(sample.scores, 3, score);
    if (score > 0.5f) Sample::add(sample.truth, 3, 1);
    sample.truth.finish_row(Csr::Repeats::kSum);
    sample.scores.finish_row(Csr::Repeats::kSum);
  }
  const ThresholdSearch search(sample.truth, sample.scores);
  EXPECT_FLOAT_EQ(search.find({})->common, 0.6f);
  // Every share is compared as it is written: one half is one half.
  const auto half = search.find({.goal = {ThresholdAim::kPrecision, 0.5}, .least_own = {}});
  EXPECT_FLOAT_EQ(half->common, 0.4f);
}

TEST(Thresholds, AGoalOutOfReachIsTold) {
  const Sample sample(3);
  const ThresholdSearch search(sample.truth, sample.scores);
  EXPECT_FALSE(search.find({.goal = {ThresholdAim::kRecall, 0.99}, .least_own = {}}));
  EXPECT_LT(search.most_recall(), 0.99);
  EXPECT_TRUE(
      search.find({.goal = {ThresholdAim::kRecall, search.most_recall()}, .least_own = {}}));
  const double most = search.most_precision();
  EXPECT_TRUE(search.find({.goal = {ThresholdAim::kPrecision, most}, .least_own = {}}));
  if (most < 1) {
    EXPECT_FALSE(search.find({.goal = {ThresholdAim::kPrecision, most + 1e-9}, .least_own = {}}));
  }
  const Csr nothing{.cols = 5, .offsets = {0, 0}, .columns = {}, .values = {}};
  EXPECT_FALSE(ThresholdSearch(nothing, nothing).find({}));
  EXPECT_EQ(ThresholdSearch(nothing, nothing).most_recall(), 0);
}

TEST(Thresholds, FiguresAreThoseOfThePairsThatAreKept) {
  const Sample sample(11);
  const ThresholdSearch search(sample.truth, sample.scores);
  const auto thresholds = search.find({.goal = {}, .least_own = 15});
  const ThresholdFigures figures = search.figures(*thresholds);
  Csr kept = sample.scores;
  keep_predicted(*thresholds, kept);
  ASSERT_EQ(kept.rows(), sample.scores.rows());
  uint64_t hits = 0;
  for (size_t row = 0; row < kept.rows(); ++row) {
    const CsrRow scores = kept.row(row);
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_GE(scores.values[i], thresholds->of(scores.columns[i]));
      hits += sample.is_true(row, scores.columns[i]);
    }
  }
  EXPECT_LT(kept.nonzeros(), sample.scores.nonzeros());
  EXPECT_EQ(figures.predicted, kept.nonzeros());
  EXPECT_EQ(figures.hits, hits);
  EXPECT_EQ(static_cast<double>(figures.positives), count(sample, all_labels(), 2).positives);
}

TEST(Thresholds, PointsThatAreTestedHadNoSay) {
  // The points of part 0 alone would want another threshold than all the others.
  Sample sample(1, 0);
  for (size_t row = 0; row < 20; ++row) {
    const bool odd = row % ThresholdSearch::kParts == 0;
    Sample::add(sample.scores, 0, 0.9f);
    Sample::add(sample.scores, 1, 0.2f);
    Sample::add(sample.truth, odd ? 1 : 0, 1);
    sample.truth.finish_row(Csr::Repeats::kSum);
    sample.scores.finish_row(Csr::Repeats::kSum);
  }
  const ThresholdSearch search(sample.truth, sample.scores);
  const auto without = search.find({}, 0);
  EXPECT_FLOAT_EQ(without->common, 0.55f);  // all others have one label, and it is the first
  const auto tested = search.tested_figures({});
  ASSERT_TRUE(tested);
  EXPECT_EQ(tested->hits, 16u);  // part 0 has none
}

}  // namespace
}  // namespace elias
