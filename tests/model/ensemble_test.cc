#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "model/label_scores.h"
#include "model/predictor.h"
#include "tests/model/tiny_model.h"
#include "tests/model/tiny_ranker.h"

namespace elias {
namespace {

struct Ranked {
  std::vector<int32_t> labels;
  std::vector<float> scores;
  bool operator==(const Ranked&) const = default;
};

class EnsembleTest : public testing::TestWithParam<int64_t> {  // clusters; 0: every label is scored
 protected:
  static constexpr size_t kPoints = 90;

  Ranked predict(const Predictor& predictor, size_t begin, size_t end, int64_t k,
                 const AllowedLabels& allowed = {}) const {
    const size_t places = (end - begin) * static_cast<size_t>(k);
    Ranked ranked{std::vector<int32_t>(places), std::vector<float>(places)};
    const auto state = predictor.make_state();
    predictor.predict(context_, points_, begin, end, k, allowed, *state,
                      {ranked.labels, ranked.scores});
    return ranked;
  }

  /// The mean of what the members say on their own of a point, by hand.
  Ranked expected(size_t point, int64_t k, const AllowedLabels& allowed = {}) const {
    std::map<int32_t, float> sums;
    for (const Member& member : members_) {
      const Predictor alone(context_, member.weights, member.search);
      const Ranked own = predict(alone, point, point + 1, kAll, allowed);
      for (size_t i = 0; i < own.labels.size() && own.labels[i] >= 0; ++i) {
        sums[own.labels[i]] += own.scores[i];
      }
    }
    std::vector<ScoredLabel> scored;
    for (const auto& [label, sum] : sums) scored.push_back({sum / 3, label});
    Ranked ranked{std::vector<int32_t>(static_cast<size_t>(k)),
                  std::vector<float>(static_cast<size_t>(k))};
    write_best(std::span(scored), ranked.labels, ranked.scores);
    return ranked;
  }

  TinySizes sizes(uint64_t seed) const {
    TinySizes sizes;
    sizes.C = GetParam();
    sizes.seed = seed;
    return sizes;
  }

  static constexpr int64_t kAll = 40;
  const TinyModel first_{sizes(1)}, second_{sizes(2)}, third_{sizes(3)};
  const SearchSettings search_{.alpha = 3, .beam = 4, .shortlist = 20, .gamma = 0.5};
  const std::vector<Member> members_ = {
      {first_.views(), search_, {}}, {second_.views(), search_, {}}, {third_.views(), search_, {}}};
  ThreadPool pool_{3};
  const Context context_{pool_};
  const Predictor ensemble_{context_, members_, {}, {}};
  const Csr points_ = random_points(kPoints, static_cast<uint64_t>(sizes(1).V), 6);
};

TEST_P(EnsembleTest, RanksByTheMeanOfItsMembers) {
  for (size_t i = 0; i < kPoints; ++i) {
    EXPECT_EQ(predict(ensemble_, i, i + 1, 10), expected(i, 10)) << "point " << i;
  }
}

TEST_P(EnsembleTest, GivesTheSameBitsInBatchesAndOnAnyNumberOfThreads) {
  const Ranked together = predict(ensemble_, 0, kPoints, 5);
  for (size_t i = 0; i < kPoints; ++i) {
    const Ranked one = predict(ensemble_, i, i + 1, 5);
    EXPECT_TRUE(std::equal(one.labels.begin(), one.labels.end(),
                           together.labels.begin() + static_cast<ptrdiff_t>(5 * i)));
  }
  ThreadPool one_thread(1);
  const Csr alone = predict_all(Context(one_thread), ensemble_, points_, 7);
  const Csr shared = predict_all(context_, ensemble_, points_, 7);
  EXPECT_EQ(alone.columns, shared.columns);
  EXPECT_EQ(alone.values, shared.values);
}

TEST_P(EnsembleTest, AShorterListIsTheBeginningOfALongerOne) {
  for (size_t i = 0; i < kPoints; ++i) {
    Ranked longer = predict(ensemble_, i, i + 1, 30);
    longer.labels.resize(3);
    longer.scores.resize(3);
    EXPECT_EQ(predict(ensemble_, i, i + 1, 3), longer);
  }
}

TEST_P(EnsembleTest, AShorterListIsTheBeginningOfOneLongerThanWhatIsFused) {
  TinySizes many = sizes(1);
  many.L = 500;
  const TinyModel a(many);
  many.seed = 2;
  const TinyModel b(many);
  const SearchSettings search{.alpha = 3, .beam = 4, .shortlist = 400, .gamma = 0.5};
  const std::vector<Member> members = {{a.views(), search, {}}, {b.views(), search, {}}};
  for (const FusionKind kind : {FusionKind::kMean, FusionKind::kRanks}) {
    const Predictor ensemble(context_, members, {.kind = kind, .learned = {}}, {});
    for (size_t i = 0; i < 20; ++i) {
      Ranked longer = predict(ensemble, i, i + 1, 350);
      EXPECT_TRUE(std::ranges::is_sorted(longer.scores, std::greater()));
      auto labels = longer.labels;
      std::ranges::sort(labels);
      EXPECT_EQ(std::ranges::adjacent_find(labels), labels.end());
      EXPECT_GE(labels.front(), 0);
      longer.labels.resize(90);
      longer.scores.resize(90);
      EXPECT_EQ(predict(ensemble, i, i + 1, 90), longer);
    }
  }
}

TEST_P(EnsembleTest, OnlyAllowedLabelsAreFound) {
  for (const int every : {2, 7}) {
    std::vector<uint8_t> flags(kAll);
    for (size_t l = 0; l < flags.size(); ++l) flags[l] = l % every == 0 ? 1 : 0;
    const AllowedLabels allowed(flags);
    for (size_t i = 0; i < kPoints; i += 5) {
      const Ranked ranked = predict(ensemble_, i, i + 1, 6, allowed);
      EXPECT_EQ(ranked, expected(i, 6, allowed));
      for (const int32_t label : ranked.labels) EXPECT_TRUE(label < 0 || label % every == 0);
    }
  }
}

TEST_P(EnsembleTest, ARankerSeesWhatTheMembersFoundTogether) {
  const TinyRanker ranker(sizes(1), RankerParts::kWords, MixKind::kProduct, 12);
  const Predictor ranked(context_, members_, {}, ranker.part());
  for (size_t i = 0; i < kPoints; ++i) {
    auto before = expected(i, 12).labels, after = predict(ranked, i, i + 1, 12).labels;
    std::ranges::sort(before);
    std::ranges::sort(after);
    EXPECT_EQ(before, after);
  }
}

INSTANTIATE_TEST_SUITE_P(Clusters, EnsembleTest, testing::Values(6, 0));

}  // namespace
}  // namespace elias
