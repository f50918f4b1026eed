#include "model/reranker.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "model/predictor.h"
#include "tests/model/tiny_model.h"
#include "tests/model/tiny_ranker.h"

namespace elias {
namespace {

constexpr int64_t kTop = 12;

struct Ranked {
  std::vector<int32_t> labels;
  std::vector<float> scores;
};

class RerankerTest : public testing::TestWithParam<RankerParts> {
 protected:
  Ranked predict(const Predictor& predictor, size_t begin, size_t end, int64_t k,
                 const AllowedLabels& allowed = {}) const {
    const size_t places = (end - begin) * static_cast<size_t>(k);
    Ranked ranked{std::vector<int32_t>(places), std::vector<float>(places)};
    const auto state = predictor.make_state();
    predictor.predict(context_, points_, begin, end, k, allowed, *state,
                      {ranked.labels, ranked.scores});
    return ranked;
  }

  const TinySizes sizes_{};
  const TinyModel model_{sizes_};
  const TinyRanker ranker_{sizes_, GetParam(), MixKind::kLearned, kTop};
  const PredictorWeights weights_ = model_.views();
  const SearchSettings search_{.alpha = 3, .beam = 4, .shortlist = 20, .gamma = 0.5};
  ThreadPool pool_{2};
  const Context context_{pool_};
  const Predictor dense_{context_, weights_, search_};
  const Predictor ranked_{context_, weights_, search_, ranker_.part()};
  const Csr points_ = random_points(90, sizes_.V, 6);
};

// Everything anew, label by label.
TEST_P(RerankerTest, MixesBothScoresAndSortsByTheResult) {
  const BagWeights<ConstTensorView>& encoder = weights_.encoder.bag();
  const PackedBag packed = pack_bag(context_, encoder, Precision::kFloat32);
  const RankerPart part = ranker_.part();
  for (size_t i = 0; i < points_.rows(); ++i) {
    const Ranked before = predict(dense_, i, i + 1, kTop);
    const Ranked after = predict(ranked_, i, i + 1, kTop);
    const CsrRow words = points_.row(i);
    const std::vector<int32_t> ids(words.columns.begin(), words.columns.end());
    const std::vector<int32_t> offsets = {0, static_cast<int32_t>(ids.size())};
    const auto size = static_cast<int64_t>(ids.size());
    BagActivations activations;
    encode_bags(context_, encoder, packed,
                {.offsets = {offsets.data(), {2}},
                 .ids = {ids.data(), {size}},
                 .weights = {words.values.data(), {size}}},
                std::nullopt, activations);
    RankerInput input(part.input);
    const CsrRow x = input.of(words, sizes_.V, activations.phi().span<float>());
    std::vector<ScoredLabel> expected;
    for (size_t j = 0; j < before.labels.size() && before.labels[j] >= 0; ++j) {
      const int32_t label = before.labels[j];
      double margin = part.weights.bias[label];
      for (size_t v = 0; v < x.size(); ++v) {
        margin += double{x.values[v]} *
                  double{part.weights.weight(static_cast<uint32_t>(label), x.columns[v])};
      }
      expected.push_back({part.mix.score({.p = before.scores[j],
                                          .margin = static_cast<float>(margin),
                                          .count = part.label_counts[label]}),
                          label});
    }
    std::ranges::sort(expected, is_better);
    for (size_t j = 0; j < expected.size(); ++j) {
      EXPECT_EQ(after.labels[j], expected[j].label);
      EXPECT_NEAR(after.scores[j], expected[j].score, 1e-5);
    }
  }
}

TEST_P(RerankerTest, ALongerListBeginsAsAShorterOneAndHoldsTheLabelsOfTheSearch) {
  for (size_t i = 0; i < points_.rows(); ++i) {
    const Ranked longest = predict(ranked_, i, i + 1, 20);
    for (const int64_t k : {1, 5, 12, 15}) {
      const Ranked shorter = predict(ranked_, i, i + 1, k);
      const auto size = static_cast<size_t>(k);
      EXPECT_TRUE(std::ranges::equal(shorter.labels, std::span(longest.labels).first(size)));
      EXPECT_TRUE(std::ranges::equal(shorter.scores, std::span(longest.scores).first(size)));
    }
    EXPECT_TRUE(std::ranges::is_sorted(longest.scores, std::greater<>()));
    for (const int64_t k : {kTop, int64_t{20}}) {
      Ranked found = predict(dense_, i, i + 1, k), after = predict(ranked_, i, i + 1, k);
      std::ranges::sort(found.labels);
      std::ranges::sort(after.labels);
      EXPECT_EQ(found.labels, after.labels);
    }
  }
}

// As others see a list: by label, to be sorted by score again.
TEST_P(RerankerTest, LabelsBehindTheTopKeepTheirOrderAndStayBehind) {
  const Csr found = predict_all(context_, dense_, points_, 20);
  const Csr after = predict_all(context_, ranked_, points_, 20);
  const auto by_score = [](const CsrRow& row) {
    std::vector<ScoredLabel> list;
    for (size_t j = 0; j < row.size(); ++j) {
      list.push_back({row.values[j], static_cast<int32_t>(row.columns[j])});
    }
    std::ranges::sort(list, is_better);
    return list;
  };
  for (size_t i = 0; i < points_.rows(); ++i) {
    const auto before = by_score(found.row(i)), now = by_score(after.row(i));
    ASSERT_EQ(before.size(), now.size());
    for (size_t j = kTop; j < now.size(); ++j) {
      EXPECT_EQ(now[j].label, before[j].label);
      EXPECT_LT(now[j].score, now[j - 1].score);
    }
  }
}

TEST_P(RerankerTest, PointsDoNotDependOnThoseBesideThem) {
  const Ranked together = predict(ranked_, 0, points_.rows(), 5);
  for (size_t i = 0; i < points_.rows(); ++i) {
    const Ranked alone = predict(ranked_, i, i + 1, 5);
    EXPECT_TRUE(std::ranges::equal(alone.labels, std::span(together.labels).subspan(5 * i, 5)));
    EXPECT_TRUE(std::ranges::equal(alone.scores, std::span(together.scores).subspan(5 * i, 5)));
  }
}

TEST_P(RerankerTest, OnlyAllowedLabelsAreRanked) {
  std::vector<uint8_t> flags(static_cast<size_t>(sizes_.L));
  flags[3] = flags[7] = flags[39] = 1;
  const Ranked ranked = predict(ranked_, 0, points_.rows(), 5, AllowedLabels(flags));
  for (size_t i = 0; i < points_.rows(); ++i) {
    std::vector<int32_t> own(ranked.labels.begin() + 5 * static_cast<ptrdiff_t>(i),
                             ranked.labels.begin() + 5 * static_cast<ptrdiff_t>(i + 1));
    std::ranges::sort(own);
    EXPECT_THAT(own, testing::ElementsAre(-1, -1, 3, 7, 39));
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RerankerTest,
                         testing::Values(RankerParts::kWords, RankerParts::kVector,
                                         RankerParts::kBoth));

}  // namespace
}  // namespace elias
