// evaluate() against its slow twin on random problems, and its promises one by one.
#include "metrics/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "base/random.h"
#include "tests/metrics/reference.h"

namespace elias {
namespace {

Csr truth_matrix(const reference::Problem& problem, RandomSequence& random) {
  Csr csr;
  csr.cols = problem.labels();
  for (const auto& row : problem.truth) {
    for (uint32_t l = 0; l < row.size(); ++l) {
      // Graded relevance counts as true whatever its size; a stored zero counts as absent.
      if (!row[l] && random.below(8) > 0) continue;
      csr.columns.push_back(l);
      csr.values.push_back(row[l] ? 1.0f / static_cast<float>(1 + random.below(3)) : 0.0f);
    }
    csr.finish_row(Csr::Repeats::kMaximum);
  }
  return csr;
}

Csr score_matrix(const reference::Problem& problem) {
  Csr csr;
  csr.cols = problem.labels();
  for (const auto& row : problem.scores) {
    for (uint32_t l = 0; l < row.size(); ++l) {
      if (!row[l]) continue;
      csr.columns.push_back(l);
      csr.values.push_back(*row[l]);
    }
    csr.finish_row(Csr::Repeats::kMaximum);
  }
  return csr;
}

/// Small and nasty: ties, empty rows on both sides, short lists, unseen labels, few or no rows.
reference::Problem random_problem(RandomSequence& random) {
  reference::Problem p;
  p.probabilities = random.below(3) > 0;
  const size_t rows = random.below(30), labels = 1 + random.below(25);
  const double label_rate = random.uniform() * 0.5, score_rate = random.uniform();
  for (size_t i = 0; i < rows; ++i) {
    auto& truth = p.truth.emplace_back(labels);
    auto& scores = p.scores.emplace_back(labels);
    const bool no_truth = random.below(5) == 0, no_scores = random.below(7) == 0;
    for (size_t l = 0; l < labels; ++l) {
      truth[l] = !no_truth && random.uniform() < label_rate;
      const float score = static_cast<float>(random.below(9)) / 8;
      if (!no_scores && random.uniform() < score_rate) {
        scores[l] = p.probabilities ? score : 4 * score - 2;
      }
    }
  }
  p.cutoffs = {.k = {1, 3, 5}, .recall = {2, 4, 100}, .mrr = {1, 10}};
  return p;
}

Training random_training(size_t labels, RandomSequence& random) {
  Training training{.points = random.below(60), .counts = {}, .propensity = {}};
  for (size_t l = 0; l < labels; ++l) training.counts.push_back(random.below(6));
  return training;
}

void expect_equal(const std::vector<Metric>& actual, const reference::Figures& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const Metric& metric : actual) {
    ASSERT_TRUE(expected.contains(metric.name)) << metric.name;
    EXPECT_NEAR(metric.value, expected.at(metric.name), 1e-12) << metric.name;
    EXPECT_GE(metric.value, 0) << metric.name;
    EXPECT_LE(metric.value, 1 + 1e-12) << metric.name;
  }
}

/// True scores may all happen to lie in [0, 1] although they were not drawn to.
bool all_in_unit_interval(const reference::Problem& p) {
  for (const auto& row : p.scores) {
    for (const auto& score : row) {
      if (score && (*score < 0 || *score > 1)) return false;
    }
  }
  return true;
}

TEST(Evaluate, EqualsTheSlowTwin) {
  RandomSequence random(7, 0);
  ThreadPool pool(2);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    reference::Problem p = random_problem(random);
    p.probabilities = all_in_unit_interval(p);
    EvaluateOptions options{.cutoffs = p.cutoffs};
    if (random.below(2) == 0) options.threshold = 0.25f;
    p.threshold = options.threshold;
    if (p.probabilities && !p.threshold) p.threshold = 0.5f;
    const Training training = random_training(p.labels(), random);
    const bool trained = p.rows() > 0 && random.below(4) > 0;
    options.groups = trained;
    if (trained) {
      p.weights = inverse_propensities(training.counts, training.points, training.propensity);
    }
    const Evaluation result = evaluate(truth_matrix(p, random), score_matrix(p),
                                       trained ? &training : nullptr, options, pool);
    expect_equal(result.metrics, reference::figures(p));
    if (!trained) continue;
    const auto group_of = label_deciles(training.counts).group_of;
    for (uint8_t g = 0; g < LabelDeciles::kGroups; ++g) {
      SCOPED_TRACE(group_name(g));
      expect_equal(result.groups[g].metrics, reference::group_figures(p, group_of, g));
    }
  }
}

TEST(Evaluate, LabelTableEqualsTheSlowTwin) {
  RandomSequence random(8, 0);
  ThreadPool pool(2);
  for (int round = 0; round < 100; ++round) {
    const reference::Problem p = random_problem(random);
    const Evaluation result = evaluate(truth_matrix(p, random), score_matrix(p), nullptr,
                                       {.cutoffs = p.cutoffs, .labels = true}, pool);
    std::vector<LabelFigures> expected(p.labels());
    for (size_t i = 0; i < p.rows(); ++i) {
      for (size_t l = 0; l < p.labels(); ++l) expected[l].positives += p.truth[i][l];
      const auto order = reference::ranking(p, i);
      for (size_t j = 0; j < order.size() && j < 5; ++j) {
        ++expected[order[j]].predicted;
        expected[order[j]].hits += p.truth[i][order[j]];
      }
    }
    ASSERT_EQ(result.by_label.size(), p.labels());
    for (size_t l = 0; l < p.labels(); ++l) {
      EXPECT_EQ(result.by_label[l].positives, expected[l].positives);
      EXPECT_EQ(result.by_label[l].predicted, expected[l].predicted);
      EXPECT_EQ(result.by_label[l].hits, expected[l].hits);
    }
  }
}

/// A larger problem, made directly: 3,000 rows are several chunks.
void fill(Csr& csr, size_t rows, uint32_t cols, uint64_t per_row, RandomSequence& random) {
  csr.cols = cols;
  for (size_t i = 0; i < rows; ++i) {
    for (uint64_t j = random.below(per_row); j > 0; --j) {
      csr.columns.push_back(static_cast<uint32_t>(random.below(cols)));
      csr.values.push_back(static_cast<float>(random.uniform()));
    }
    csr.finish_row(Csr::Repeats::kMaximum);
  }
}

TEST(Evaluate, SameBitsAtAnyNumberOfThreads) {
  RandomSequence random(9, 0);
  Csr truth, scores;
  fill(truth, 3000, 200, 12, random);
  fill(scores, 3000, 200, 120, random);
  const Training training{.points = 3000, .counts = column_counts(truth), .propensity = {}};
  const EvaluateOptions options{.cutoffs = {}, .threshold = {}, .groups = true, .labels = true};
  ThreadPool one(1);
  const Evaluation expected = evaluate(truth, scores, &training, options, one);
  for (int threads : {2, 3, 7}) {
    ThreadPool pool(threads);
    const Evaluation actual = evaluate(truth, scores, &training, options, pool);
    for (size_t m = 0; m < expected.metrics.size(); ++m) {
      EXPECT_EQ(actual.metrics[m].value, expected.metrics[m].value) << actual.metrics[m].name;
      for (size_t g = 0; g < LabelDeciles::kGroups; ++g) {
        EXPECT_EQ(actual.groups[g].metrics[m].value, expected.groups[g].metrics[m].value);
      }
    }
    for (size_t l = 0; l < expected.by_label.size(); ++l) {
      EXPECT_EQ(actual.by_label[l].predicted, expected.by_label[l].predicted);
      EXPECT_EQ(actual.by_label[l].hits, expected.by_label[l].hits);
    }
  }
}

TEST(Evaluate, GroupsAddUpToPrecision) {
  RandomSequence random(10, 0);
  Csr truth, scores;
  fill(truth, 700, 90, 12, random);
  fill(scores, 700, 90, 60, random);
  const Training training{.points = 700, .counts = column_counts(truth), .propensity = {}};
  ThreadPool pool(1);
  const Evaluation result = evaluate(truth, scores, &training, {.groups = true}, pool);
  double sum = 0;
  for (const auto& group : result.groups) sum += group.metrics[2].value;
  EXPECT_EQ(result.metrics[2].name, "P@5");
  EXPECT_NEAR(sum, result.metrics[2].value, 1e-12);
}

TEST(Evaluate, CountsWhatIsMissing) {
  // Row 0: true label 2 was never seen in training. Row 1: nothing is true. Row 2: no predictions.
  const Csr truth{.cols = 3, .offsets = {0, 1, 1, 2}, .columns = {2, 0}, .values = {1, 1}};
  const Csr scores{.cols = 3, .offsets = {0, 1, 2, 2}, .columns = {2, 1}, .values = {3, -1}};
  const Training training{.points = 9, .counts = {4, 5, 0}, .propensity = {}};
  ThreadPool pool(1);
  const Evaluation result = evaluate(truth, scores, &training, {}, pool);
  EXPECT_EQ(result.rows, 3u);
  EXPECT_EQ(result.rows_without_positives, 1u);
  EXPECT_EQ(result.rows_without_predictions, 1u);
  EXPECT_EQ(result.rows_all_unseen, 1u);
  EXPECT_EQ(result.unseen_positives, 1u);
  EXPECT_EQ(result.positives, 2u);
  EXPECT_EQ(result.predictions, 2u);
  EXPECT_EQ(result.labels, 2u);
  EXPECT_FALSE(result.probabilities);
  EXPECT_FALSE(result.find("ECE"));
  EXPECT_FALSE(result.find("micro-F1"));
  EXPECT_DOUBLE_EQ(*result.find("P@1"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(*result.find("R@10"), 0.5);
}

TEST(Evaluate, RefusesScoresThatAreNotFinite) {
  const Csr truth{.cols = 9, .offsets = {0, 0, 0}, .columns = {}, .values = {}};
  ThreadPool pool(1);
  for (float bad : {std::nanf(""), INFINITY, -INFINITY}) {
    const Csr scores{.cols = 9, .offsets = {0, 1, 3}, .columns = {1, 4, 5}, .values = {1, 2, bad}};
    try {
      evaluate(truth, scores, nullptr, {}, pool, "p.npz");
      FAIL();
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("p.npz: row 1, label 5: the score is"));
    }
  }
}

TEST(Evaluate, LabelsBeyondTheTruthsWidthAreMisses) {
  const Csr truth{.cols = 1, .offsets = {0, 1}, .columns = {0}, .values = {1}};
  const Csr scores{.cols = 7, .offsets = {0, 2}, .columns = {0, 6}, .values = {0.1f, 0.9f}};
  ThreadPool pool(1);
  const Evaluation result = evaluate(truth, scores, nullptr, {.labels = true}, pool);
  EXPECT_EQ(*result.find("P@1"), 0);
  EXPECT_EQ(*result.find("MRR@10"), 0.5);
  EXPECT_EQ(result.by_label[6].predicted, 1u);
}

}  // namespace
}  // namespace elias
