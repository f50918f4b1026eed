#include "ranker/sparse_ranker.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <set>

#include "base/errors.h"
#include "tests/data/sparse.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr uint64_t kFeatures = 60, kLabels = 25;

struct Points {
  Csr features = random_csr(300, kFeatures, 10, 9, 1);  // [N x V]
  Csr labels = random_csr(300, kLabels, 3, 1, 2);       // [N x L]
  Csr found = random_csr(300, kLabels, 8, 5, 3);        // [N x L]
};

SparseRanker trained(const Points& points, const RankerOptions& options, int threads) {
  ThreadPool pool(threads);
  const RankerTrainer trainer(points.features, points.labels, points.found, options, Isa::kScalar);
  SparseRanker ranker;
  trainer.extend(ranker, trainer.labels(), pool);
  return ranker;
}

void expect_same(const SparseRanker& a, const SparseRanker& b) {
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.bias, b.bias);
}

TEST(SparseRankerTest, ALabelLearnsFromItsPointsAndFromThoseItIsFoundFor) {
  const Points points;
  const RankerOptions options{.cut = {.least = 0.05F}};
  const SparseRanker ranker = trained(points, options, 1);
  ASSERT_EQ(ranker.bias.size(), kLabels);
  std::vector<float> lengths;
  for (size_t i = 0; i < points.features.rows(); ++i) {
    double sum = 0;
    for (const float value : points.features.row(i).values) sum += double{value} * double{value};
    lengths.push_back(static_cast<float>(sum));
  }
  for (uint32_t label = 0; label < kLabels; ++label) {
    std::vector<uint32_t> learned_from;
    std::vector<uint8_t> positive;
    for (size_t i = 0; i < points.labels.rows(); ++i) {
      const bool is_true = std::ranges::count(points.labels.row(i).columns, label) > 0;
      if (!is_true && std::ranges::count(points.found.row(i).columns, label) == 0) continue;
      learned_from.push_back(static_cast<uint32_t>(i));
      positive.push_back(is_true ? 1 : 0);
    }
    DualDescent descent(kFeatures, Isa::kScalar);
    descent.solve({points.features, lengths, learned_from, positive}, options.descent, options.seed,
                  label);
    const auto weights = descent.take_weights(options.cut);
    EXPECT_EQ(ranker.bias[label], descent.bias());
    const auto begin = static_cast<size_t>(ranker.offsets[label]);
    ASSERT_EQ(ranker.offsets[label + 1] - ranker.offsets[label],
              static_cast<int64_t>(weights.size()));
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(ranker.ids[begin + i], weights[i].feature);
      EXPECT_EQ(ranker.weights[begin + i], weights[i].weight);
    }
  }
}

TEST(SparseRankerTest, IsTheSameInOneGoOrInSeveral) {
  const Points points;
  const RankerOptions options{.seed = 3};
  ThreadPool pool(2);
  const RankerTrainer trainer(points.features, points.labels, points.found, options, Isa::kScalar);
  SparseRanker ranker;
  for (const int64_t end : {3, 3, 17, 25}) trainer.extend(ranker, end, pool);
  expect_same(ranker, trained(points, options, 1));
}

TEST(SparseRankerTest, CountsTheWork) {
  const Points points;
  const RankerTrainer trainer(points.features, points.labels, points.found, {}, Isa::kScalar);
  EXPECT_EQ(trainer.pairs_below(0), 0);
  std::set<std::pair<size_t, uint32_t>> pairs;
  for (const Csr* matrix : {&points.labels, &points.found}) {
    for (size_t i = 0; i < matrix->rows(); ++i) {
      for (const uint32_t label : matrix->row(i).columns) pairs.emplace(i, label);
    }
  }
  EXPECT_EQ(trainer.pairs_below(kLabels), pairs.size());
}

TEST(SparseRankerThreadTest, IsTheSameAtAnyNumberOfThreads) {
  const Points points;
  const SparseRanker alone = trained(points, {}, 1);
  for (const int threads : {2, 5}) expect_same(trained(points, {}, threads), alone);
}

TEST(SparseRankerTest, TakesLabelsWithoutPointsAndKeepsNoMoreWeightsThanAsked) {
  const Points points{.features = csr_of(4, {{{0, 1.0F}, {2, 0.5F}}, {{1, 1.0F}}}),
                      .labels = csr_of(3, {{{0, 1.0F}}, {{0, 1.0F}}}),
                      .found = csr_of(3, {{}, {{2, 1.0F}}})};
  const SparseRanker ranker = trained(points, {.cut = {.most = 2}}, 1);
  EXPECT_THAT(ranker.offsets, ElementsAre(0, 2, 2, 3));
  EXPECT_GT(ranker.bias[0], 0);
  EXPECT_EQ(ranker.bias[1], 0);
  EXPECT_LT(ranker.bias[2], 0);
}

TEST(RankerQueryTest, MarginsAreThoseOfDenseVectors) {
  const Points points;
  const SparseRanker ranker = trained(points, {}, 1), turned = by_feature(ranker, kFeatures);
  std::vector<int32_t> labels;
  for (int32_t label = kLabels; label-- > 0;) labels.push_back(label);
  for (const Isa isa : supported_isas()) {
    RankerQuery by_labels(ranker.view(), kFeatures, isa);
    RankerQuery by_features(turned.view(), kFeatures, isa);
    for (size_t i = 0; i < points.features.rows(); ++i) {
      const CsrRow point = points.features.row(i);
      std::vector<double> dense(kFeatures);
      for (size_t j = 0; j < point.size(); ++j) dense[point.columns[j]] = point.values[j];
      std::vector<float> margins(labels.size()), again(labels.size());
      by_labels.margins(point, labels, margins);
      by_features.margins(point, labels, again);
      for (size_t k = 0; k < labels.size(); ++k) {
        double expected = ranker.bias[labels[k]];
        for (int64_t e = ranker.offsets[labels[k]]; e < ranker.offsets[labels[k] + 1]; ++e) {
          expected += double{ranker.weights[e]} * dense[ranker.ids[e]];
        }
        EXPECT_NEAR(margins[k], expected, 1e-4);
        EXPECT_NEAR(again[k], expected, 1e-4);
      }
    }
  }
}

/// Two features: one with a weight for every second of `labels` labels, one for the last alone.
SparseRanker of_many_labels(uint32_t labels) {
  SparseRanker ranker;
  for (uint32_t label = 0; label < labels; ++label) {
    const bool last = label + 1 == labels;
    if (label % 2 == 0 || last) ranker.ids.push_back(last ? 1 : 0);
    if (label % 2 == 0 || last) ranker.weights.push_back(static_cast<float>(label));
    ranker.offsets.push_back(static_cast<int64_t>(ranker.ids.size()));
    ranker.bias.push_back(0.5F);
  }
  return ranker;
}

TEST(RankerQueryTest, LooksLabelsUpWhereAFeatureHasVeryMany) {
  const SparseRanker ranker = of_many_labels(1000);
  const SparseRanker turned = by_feature(ranker, 2);
  EXPECT_EQ(turned.view().weight(4, 0), 4);
  EXPECT_EQ(turned.view().weight(5, 0), 0);
  EXPECT_EQ(turned.view().weight(999, 1), 999);
  EXPECT_EQ(ranker.view().weight(999, 1), 999);
  EXPECT_EQ(ranker.view().weight(999, 0), 0);
  const Csr point = csr_of(2, {{{0, 2.0F}, {1, 3.0F}}});
  RankerQuery query(turned.view(), 2, chosen_isa());
  std::vector<int32_t> all(1000);
  std::iota(all.begin(), all.end(), 0);
  for (const size_t asked : {size_t{1}, size_t{3}, all.size()}) {  // 500 weights: looked up, or not
    std::vector<float> margins(asked);
    const auto labels = std::span(all).last(asked);
    query.margins(point.row(0), labels, margins);
    for (size_t i = 0; i < asked; ++i) {
      const int32_t label = labels[i];
      const auto weight = static_cast<float>(label);
      EXPECT_EQ(margins[i], 0.5F + (label == 999 ? 3 * weight : label % 2 == 0 ? 2 * weight : 0));
    }
  }
}

TEST(SparseRankerTest, LiesAsTheFewerWeightsArePassedOver) {
  // Of three labels one has all ten features; a point has one feature of its own.
  SparseRanker ranker;
  for (uint32_t v = 0; v < 10; ++v) {
    ranker.ids.push_back(v);
    ranker.weights.push_back(1);
  }
  ranker.offsets = {0, 10, 10, 10};
  ranker.bias = {0, 0, 0};
  const Csr short_point = csr_of(10, {{{4, 1.0F}}});
  const Csr frequent = csr_of(3, {{{0, 1.0F}, {1, 1.0F}}}), rare = csr_of(3, {{{1, 1.0F}}});
  EXPECT_EQ(better_layout(ranker.view(), short_point, frequent), RankerLayout::kByFeature);
  EXPECT_EQ(better_layout(ranker.view(), short_point, rare), RankerLayout::kByLabel);
}

TEST(SparseRankerTest, DamageIsRefused) {
  ThreadPool pool(1);
  const SparseRanker good = trained(Points(), {}, 1);
  const auto check = [&](const SparseRanker& ranker) {
    check_sparse_ranker(ranker.view(), kLabels, kFeatures, "the file", pool);
  };
  check(good);
  const auto refused = [&](const char* what, auto damage) {
    SparseRanker bad = good;
    damage(bad);
    EXPECT_THAT([&] { check(bad); }, ThrowsMessage<InputError>(HasSubstr(what)));
  };
  refused("the file: ", [](SparseRanker& ranker) { ranker.offsets[0] = 1; });
  refused("do not fit", [](SparseRanker& ranker) { ranker.offsets.pop_back(); });
  refused("do not fit", [](SparseRanker& ranker) { ranker.bias.push_back(0); });
  refused("do not fit",
          [](SparseRanker& ranker) { std::swap(ranker.offsets[1], ranker.offsets[9]); });
  refused("do not fit", [](SparseRanker& ranker) { ranker.weights.pop_back(); });
  refused("beyond its own", [](SparseRanker& ranker) { ranker.ids.back() = kFeatures; });
  refused("do not rise", [](SparseRanker& ranker) { std::swap(ranker.ids[0], ranker.ids[1]); });
  refused("not a number", [](SparseRanker& ranker) { ranker.weights[3] = NAN; });
  refused("not a number", [](SparseRanker& ranker) { ranker.weights.back() = INFINITY; });
  refused("not a number", [](SparseRanker& ranker) { ranker.bias[2] = -INFINITY; });
}

TEST(RankerScoreTest, RisesWithMargins) {
  for (const RankerLoss loss : {RankerLoss::kSquaredHinge, RankerLoss::kLogistic}) {
    float before = -1;
    for (float margin = -3; margin <= 1; margin += 0.125F) {
      const float score = ranker_score(loss, margin);
      EXPECT_GT(score, before);
      EXPECT_LE(score, 1);
      before = score;
    }
  }
  EXPECT_EQ(ranker_score(RankerLoss::kSquaredHinge, 1), 1);
  EXPECT_FLOAT_EQ(ranker_score(RankerLoss::kSquaredHinge, 0), std::exp(-1.0F));
  EXPECT_FLOAT_EQ(ranker_score(RankerLoss::kLogistic, 0), 0.5F);
}

}  // namespace
}  // namespace elias
