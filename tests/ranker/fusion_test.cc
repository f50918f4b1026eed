#include "ranker/fusion.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/errors.h"
#include "ranker/log_odds.h"
#include "tests/data/sparse.h"

namespace elias {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct List {
  std::vector<int32_t> labels;
  std::vector<float> scores;
};

const std::vector<List> kLists = {{{7, 2, 9}, {0.9F, 0.6F, 0.1F}},
                                  {{2, 7, -1}, {0.8F, 0.5F, 0}},
                                  {{2, 4, 9}, {0.4F, 0.3F, 0.2F}}};

std::vector<ScoredLabel> fused(const Fusion& fusion, const std::vector<List>& lists) {
  std::vector<MemberList> views;
  for (const List& list : lists) views.push_back({list.labels, list.scores});
  Fuser fuser;
  const auto all = fuser.fuse(fusion, views);
  return {all.begin(), all.end()};
}

void expect_scores(const std::vector<ScoredLabel>& found,
                   const std::vector<std::pair<int32_t, double>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].label, expected[i].first);
    EXPECT_NEAR(found[i].score, expected[i].second, 1e-6) << "label " << expected[i].first;
  }
}

TEST(FusionTest, TakesTheMeanOfScoresWithNothingForWhatAMemberDidNotFind) {
  expect_scores(fused({}, kLists), {{2, 1.8 / 3}, {4, 0.1}, {7, 1.4 / 3}, {9, 0.1}});
}

TEST(FusionTest, TakesTheMeanOfReciprocalRanks) {
  expect_scores(fused({.kind = FusionKind::kRanks}, kLists),
                {{2, 2.5 / 3}, {4, 0.5 / 3}, {7, 1.5 / 3}, {9, (2.0 / 3) / 3}});
}

TEST(FusionTest, TakesASumOfLogOddsWhereItIsLearned) {
  const Fusion fusion{.kind = FusionKind::kLearned,
                      .learned = {.bias = 0.5F, .inputs = {{{}, {1}}, {{}, {2}}, {{}, {0}}}}};
  const auto probability = [](double first, double second) {
    const auto odds = [](double p) { return std::log(p / (1 - p)); };
    return 1 / (1 + std::exp(-(0.5 + odds(first) + 2 * odds(second))));
  };
  const double kNone = 1 / (1 + std::exp(10));
  expect_scores(fused(fusion, kLists), {{2, probability(0.6, 0.8)},
                                        {4, probability(kNone, kNone)},
                                        {7, probability(0.9, 0.5)},
                                        {9, probability(0.1, kNone)}});
}

TEST(FusionTest, OfOneMemberIsItsList) {
  expect_scores(fused({}, {kLists[1]}), {{2, 0.8}, {7, 0.5}});
  EXPECT_TRUE(fused({}, {List{}, List{}}).empty());
}

/// Points of which a member knows the labels and another guesses.
TEST(FusionTest, LearnsWhichMemberToTrust) {
  const Csr truth = random_csr(300, 10, 3, 1, 1);
  Csr knows = random_csr(300, 10, 0, 1, 2), guesses = random_csr(300, 10, 8, 19, 3);
  knows.offsets = {0};
  for (size_t i = 0; i < truth.rows(); ++i) {
    for (uint32_t label = 0; label < 10; ++label) {
      const bool is_true = std::ranges::binary_search(truth.row(i).columns, label);
      knows.columns.push_back(label);
      knows.values.push_back(0.04F * static_cast<float>(1 + (i + label) % 12) +
                             (is_true ? 0.45F : 0));
    }
    knows.finish_row(Csr::Repeats::kSum);
  }
  ThreadPool pool(2);
  const Fusion fusion = fit_fusion(std::array{knows, guesses}, truth, pool);
  const auto score = [&](float first, float second) {
    return fusion.score(std::array{log_odds(first), log_odds(second)});
  };
  EXPECT_GT(score(0.8F, 0.1F), 0.8F);
  EXPECT_LT(score(0.1F, 0.8F), 0.2F);
  check_fusion(fusion, 2, "here");
  EXPECT_THAT([&] { check_fusion(fusion, 3, "here"); },
              ThrowsMessage<InputError>(HasSubstr("here: its fusion is of 2 members, but there "
                                                  "are 3")));
}

}  // namespace
}  // namespace elias
