#include "ranker/score_mix.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/errors.h"
#include "base/random.h"
#include "ranker/sparse_ranker.h"

namespace elias {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr RankerLoss kLoss = RankerLoss::kSquaredHinge;

struct Found {
  std::vector<FoundLabel> labels;
  std::vector<uint8_t> is_true;
};

/// Labels that are true with a probability that rises with both scores.
double true_probability(const FoundLabel& label) {
  return 1 / (1 + std::exp(-(6 * label.p + 2 * label.margin - 5)));
}

Found random_found(size_t size, uint64_t seed) {
  Found found;
  RandomSequence random(seed, 1);
  for (size_t i = 0; i < size; ++i) {
    found.labels.push_back({.p = static_cast<float>(random.uniform()),
                            .margin = static_cast<float>(4 * random.uniform() - 2),
                            .count = random.below(500)});
    found.is_true.push_back(random.uniform() < true_probability(found.labels.back()) ? 1 : 0);
  }
  return found;
}

TEST(ScoreMixTest, ProductIsOfBothScores) {
  ThreadPool pool(1);
  const ScoreMix mix = fit_mix(MixKind::kProduct, kLoss, {}, {}, pool);
  EXPECT_FLOAT_EQ(mix.score({.p = 0.5F, .margin = 0, .count = 3}), 0.5F * std::exp(-1.0F));
  EXPECT_FLOAT_EQ(mix.score({.p = 0.5F, .margin = 2, .count = 3}), 0.5F);
}

TEST(ScoreMixTest, TreeIsHalfOfItsShareAndTheProduct) {
  ThreadPool pool(1);
  const Found found = random_found(3000, 1);
  const ScoreMix mix = fit_mix(MixKind::kTree, kLoss, found.labels, found.is_true, pool);
  for (size_t i = 0; i < 100; ++i) {
    const FoundLabel& label = found.labels[i];
    const float q = ranker_score(kLoss, label.margin);
    const std::array row = {label.p, q, label.p * q, static_cast<float>(label.count)};
    EXPECT_FLOAT_EQ(mix.score(label), (mix.tree->probability(row) + label.p * q) / 2);
  }
  EXPECT_GT(mix.tree->nodes().size(), 10);
}

TEST(ScoreMixTest, LearnedScoresAreProbabilities) {
  ThreadPool pool(2);
  const Found found = random_found(40000, 2);
  const ScoreMix mix = fit_mix(MixKind::kLearned, kLoss, found.labels, found.is_true, pool);
  double error = 0;
  const Found others = random_found(5000, 3);
  for (const FoundLabel& label : others.labels) {
    error += std::abs(double{mix.score(label)} - true_probability(label));
  }
  EXPECT_LT(error / static_cast<double>(others.labels.size()), 0.02);
}

TEST(ScoreMixTest, LearnedScoresNeverFallWhereAScoreRises) {
  ThreadPool pool(1);
  Found found = random_found(500, 4);
  for (uint8_t& one : found.is_true) one = one != 0 ? 0 : 1;  // against all sense
  const ScoreMix mix = fit_mix(MixKind::kLearned, kLoss, found.labels, found.is_true, pool);
  for (const uint64_t count : {0, 7}) {
    float before_p = 0, before_margin = 0;
    for (int i = 0; i <= 100; ++i) {
      const float share = static_cast<float>(i) / 100;
      const float by_p = mix.score({.p = share, .margin = 0.3F, .count = count});
      const float by_margin = mix.score({.p = 0.3F, .margin = 8 * share - 4, .count = count});
      EXPECT_GE(by_p, before_p);
      EXPECT_GE(by_margin, before_margin);
      before_p = by_p;
      before_margin = by_margin;
    }
  }
}

TEST(ScoreMixTest, WithoutHeldOutPointsBothScoresCount) {
  ThreadPool pool(1);
  const ScoreMix mix = fit_mix(MixKind::kLearned, kLoss, {}, {}, pool);
  EXPECT_GT(mix.score({.p = 0.6F, .margin = 0, .count = 1}),
            mix.score({.p = 0.5F, .margin = 0, .count = 1}));
  EXPECT_GT(mix.score({.p = 0.5F, .margin = 0.1F, .count = 1}),
            mix.score({.p = 0.5F, .margin = 0, .count = 1}));
  for (const float p : {0.0F, 1.0F}) {
    for (const float margin : {-1e30F, 1e30F}) {
      const float score = mix.score({.p = p, .margin = margin, .count = 0});
      EXPECT_TRUE(score >= 0 && score <= 1) << score;
    }
  }
}

TEST(ScoreMixTest, DamageIsRefused) {
  ThreadPool pool(1);
  ScoreMix mix = fit_mix(MixKind::kLearned, kLoss, {}, {}, pool);
  check_mix(mix, "the file");
  mix.learned.inputs.pop_back();
  EXPECT_THAT([&] { check_mix(mix, "the file"); },
              ThrowsMessage<InputError>(HasSubstr("the file: its mix of scores has 2 inputs")));
  mix.learned.bias = NAN;
  EXPECT_THROW(check_mix(mix, "the file"), InputError);
}

}  // namespace
}  // namespace elias
