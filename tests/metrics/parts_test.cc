// The parts of the metrics that have rules of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/errors.h"
#include "metrics/calibration.h"
#include "metrics/evaluate.h"
#include "metrics/filter.h"
#include "metrics/propensity.h"
#include "metrics/ranked_hits.h"

namespace elias {
namespace {

TEST(Propensity, NamesAndNumbers) {
  EXPECT_EQ(propensity_from_name("amazon").b, 2.6);
  EXPECT_EQ(propensity_from_name("wikipedia").a, 0.5);
  EXPECT_EQ(propensity_from_name("default").a, 0.55);
  EXPECT_EQ(propensity_from_name("0.7,3").b, 3);
  EXPECT_EQ(propensity_from_name("0.7,3").name, "custom");
  for (const char* bad : {"", "amzon", "1", "1,", ",1", "0,1", "1,-2", "1,2,3", "nan,1", "1,inf"}) {
    EXPECT_THROW(propensity_from_name(bad), InputError) << bad;
  }
}

TEST(Propensity, FollowsTheFormula) {
  const std::vector<uint64_t> counts{0, 1, 100};
  const auto weights = inverse_propensities(counts, 1000, propensity_from_name("amazon"));
  for (size_t l = 0; l < 3; ++l) {
    const double c = (std::log(1000.0) - 1) * std::pow(3.6, 0.6);
    EXPECT_DOUBLE_EQ(weights[l], 1 + c * std::pow(static_cast<double>(counts[l]) + 2.6, -0.6));
  }
  // With fewer than three points the formula would give weights below one, or negative.
  for (uint64_t points : {0, 1, 2}) {
    EXPECT_EQ(inverse_propensities(counts, points, {}), (std::vector<double>{1, 1, 1}));
  }
}

TEST(Filter, ShortensListsAndIgnoresStrangers) {
  Csr scores{.cols = 9,
             .offsets = {0, 2, 2, 5},
             .columns = {1, 4, 0, 4, 8},
             .values = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f}};
  EXPECT_EQ(remove_pairs(scores, {{2, LabelId(8)},
                                  {0, LabelId(1)},
                                  {1, LabelId(1)},
                                  {0, LabelId(1)},
                                  {2, LabelId(3)},
                                  {77, LabelId(0)}}),
            2u);
  EXPECT_EQ(scores.offsets, (std::vector<uint64_t>{0, 1, 1, 3}));
  EXPECT_EQ(scores.columns, (std::vector<uint32_t>{4, 0, 4}));
  EXPECT_EQ(scores.values, (std::vector<float>{0.2f, 0.3f, 0.4f}));
}

TEST(RankedHits, TiesGoToTheLowerLabel) {
  const std::vector<uint32_t> predicted{2, 3, 5, 7}, positives{3, 5, 6, 7};
  const std::vector<float> scores{1, 2, 2, 2}, relevances{1, 1, 1, 1};
  std::vector<Hit> hits;
  ranked_hits({positives, relevances}, {predicted, scores}, hits);
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(hits[0].label, 3u);
  EXPECT_EQ(hits[0].rank, 1u);
  EXPECT_EQ(hits[1].label, 5u);
  EXPECT_EQ(hits[1].rank, 2u);
  EXPECT_EQ(hits[2].label, 7u);
  EXPECT_EQ(hits[2].rank, 3u);
  std::vector<uint32_t> top;
  top_labels({predicted, scores}, 2, top);
  EXPECT_THAT(top, testing::UnorderedElementsAre(3, 5));
  top_labels({predicted, scores}, 9, top);
  EXPECT_THAT(top, testing::UnorderedElementsAre(2, 3, 5, 7));
}

TEST(Calibration, TenthsFallIntoTheBinTheyOpen) {
  for (size_t tenth = 0; tenth < 10; ++tenth) {
    EXPECT_EQ(Calibration::bin_of(static_cast<float>(tenth) / 10.0f), tenth);
  }
  EXPECT_EQ(Calibration::bin_of(1.0f), 9u);
  EXPECT_EQ(Calibration::bin_of(-0.0f), 0u);
  EXPECT_EQ(Calibration().error(), 0.0);
}

// The worked example of docs/metrics.md, figure by figure. Labels a b c d are 0 1 2 3.
TEST(WorkedExample, OfTheManual) {
  const Csr truth{
      .cols = 4, .offsets = {0, 2, 3, 3, 5}, .columns = {0, 2, 1, 0, 3}, .values = {1, 1, 1, 1, 1}};
  const Csr scores{.cols = 4,
                   .offsets = {0, 3, 5, 6, 7},
                   .columns = {0, 1, 2, 0, 1, 2, 1},
                   .values = {0.9f, 0.6f, 0.3f, 0.5f, 0.5f, 0.4f, 0.8f}};
  const Training training{.points = 20, .counts = {12, 5, 2, 0}, .propensity = {}};
  ThreadPool pool(1);
  const EvaluateOptions options{.cutoffs = {.k = {1, 3}, .recall = {3}, .mrr = {10}}};
  const Evaluation result = evaluate(truth, scores, &training, options, pool);
  const auto percent = [&](const char* name) { return 100 * result.find(name).value(); };
  EXPECT_NEAR(percent("P@1"), 25.00, 0.005);
  EXPECT_NEAR(percent("P@3"), 25.00, 0.005);
  EXPECT_NEAR(percent("nDCG@1"), 33.33, 0.005);
  EXPECT_NEAR(percent("nDCG@3"), 51.69, 0.005);
  EXPECT_NEAR(percent("PSP@1"), 21.10, 0.005);
  EXPECT_NEAR(percent("PSP@3"), 54.96, 0.005);
  EXPECT_NEAR(percent("PSnDCG@1"), 21.10, 0.005);
  EXPECT_NEAR(percent("PSnDCG@3"), 44.26, 0.005);
  EXPECT_NEAR(percent("R@3"), 66.67, 0.005);
  EXPECT_NEAR(percent("MRR@10"), 50.00, 0.005);
  EXPECT_NEAR(percent("coverage@1"), 25.00, 0.005);
  EXPECT_NEAR(percent("coverage@3"), 75.00, 0.005);
  EXPECT_NEAR(percent("micro-F1"), 40.00, 0.005);
  EXPECT_NEAR(percent("macro-F1"), 25.00, 0.005);
  EXPECT_NEAR(percent("ECE"), 37.14, 0.005);
  EXPECT_EQ(result.rows_without_positives, 1u);
  EXPECT_EQ(result.unseen_positives, 1u);
}

}  // namespace
}  // namespace elias
