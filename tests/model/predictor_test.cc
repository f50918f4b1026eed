#include "model/predictor.h"

#include <gmock/gmock.h>

#include "tests/model/predictor_reference.h"
#include "tests/model/tiny_model.h"
#include "tests/ops/backends.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Ranked {
  std::vector<int32_t> labels;
  std::vector<float> scores;
};

Ranked predict(const Context& context, const Predictor& predictor, const Csr& points, size_t begin,
               size_t end, int64_t k, const std::vector<uint8_t>& allowed = {}) {
  const size_t places = (end - begin) * static_cast<size_t>(k);
  Ranked ranked{std::vector<int32_t>(places, 77), std::vector<float>(places, 77)};
  const auto state = predictor.make_state();
  predictor.predict(context, points, begin, end, k, AllowedLabels(allowed), *state,
                    {ranked.labels, ranked.scores});
  return ranked;
}

// One point's k places against the reference's scores of all labels. Labels whose scores differ by
// rounding alone may change places; nothing else may.
void expect_ranking(std::span<const int32_t> labels, std::span<const float> scores,
                    const std::vector<double>& expected) {
  const auto order = reference::largest(expected, labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    const double wanted = i < order.size() ? expected[order[i]] : -1;
    if (wanted < 0) {
      ASSERT_EQ(labels[i], -1) << "place " << i;
      ASSERT_EQ(scores[i], 0);
      continue;
    }
    const double tolerance = 2e-5 * wanted + 1e-44;
    ASSERT_NEAR(scores[i], wanted, tolerance) << "place " << i;
    ASSERT_GE(labels[i], 0);
    ASSERT_NEAR(expected[labels[i]], wanted, 2 * tolerance) << "place " << i;
    if (i == 0) continue;
    const bool in_order =
        scores[i - 1] > scores[i] || (scores[i - 1] == scores[i] && labels[i - 1] < labels[i]);
    ASSERT_TRUE(in_order) << "place " << i;
  }
}

std::vector<uint8_t> every(int64_t L, int64_t step) {
  std::vector<uint8_t> allowed(static_cast<size_t>(L));
  for (int64_t l = 0; l < L; l += step) allowed[l] = 1;
  return allowed;
}

void expect_as_reference(const Context& context, const TinyModel& model,
                         const SearchSettings& settings) {
  const PredictorWeights weights = model.views();
  const Predictor predictor(context, weights, settings);
  const Csr points = random_points(9, static_cast<uint64_t>(model.sizes().V), 3);
  const int64_t L = model.sizes().L;
  const std::vector<std::vector<uint8_t>> filters = {
      {}, every(L, 2), every(L, 13), every(L, L - 1), std::vector<uint8_t>(L)};
  for (size_t f = 0; f < filters.size(); ++f) {
    for (const int64_t k : {int64_t{1}, int64_t{5}, L + 3}) {
      const Ranked ranked = predict(context, predictor, points, 0, points.rows(), k, filters[f]);
      for (size_t n = 0; n < points.rows(); ++n) {
        SCOPED_TRACE(testing::Message() << "filter " << f << " k=" << k << " point " << n);
        expect_ranking(std::span(ranked.labels).subspan(n * k, k),
                       std::span(ranked.scores).subspan(n * k, k),
                       reference::predict(model, points.row(n), settings, filters[f]));
      }
    }
  }
}

class PredictorTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(OnCpu, PredictorTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(PredictorTest, SearchMatchesReference) {
  for (const bool halves : {false, true}) {
    const TinyModel model({.layers = halves ? 0 : 2, .halves = halves});
    for (const int64_t beam : {1, 3, 6}) {
      for (const int64_t shortlist : {1, 7, 40}) {
        for (const float gamma : {0.0F, 0.5F, 1.0F}) {
          SCOPED_TRACE(testing::Message() << "b=" << beam << " K=" << shortlist
                                          << " gamma=" << gamma << (halves ? " bfloat16" : ""));
          expect_as_reference(context(), model,
                              {.alpha = 3, .beam = beam, .shortlist = shortlist, .gamma = gamma});
        }
      }
    }
  }
}

// Of more clusters with a score of 1 than the beam has places, those of the highest logits.
TEST_P(PredictorTest, ClampedClustersAreChosenByTheirLogits) {
  expect_as_reference(context(), TinyModel({}),
                      {.alpha = 1000, .beam = 2, .shortlist = 40, .gamma = 1});
}

TEST_P(PredictorTest, ExactScanMatchesReference) {
  for (const int64_t L : {2, 40, 700}) {  // one and several blocks
    for (const bool halves : {false, true}) {
      const TinyModel model({.C = 0, .L = L, .halves = halves});
      // The settings of a search do not matter, but for how many allowed labels are scored alone.
      expect_as_reference(context(), model, {.alpha = 0, .beam = 0, .shortlist = 30, .gamma = 1});
    }
  }
}

TEST_P(PredictorTest, OfEqualScoresTheLowerLabelComesFirst) {
  for (const int64_t C : {0, 6}) {
    TinyModel model({.C = C, .L = 600});
    const auto w = model.label_weights.span<float>();
    std::fill(w.begin(), w.end(), 0.0F);
    const auto bias = model.label_bias.span<float>();
    std::fill(bias.begin(), bias.end(), 30.0F);  // the sigmoid is 1
    bias[500] = 40;                              // and so is this
    std::fill(model.scores.begin(), model.scores.end(), 1.0F);
    const PredictorWeights weights = model.views();
    const SearchSettings settings{.alpha = 1000, .beam = 6, .shortlist = 550, .gamma = 1};
    const Predictor predictor(context(), weights, settings);
    const Ranked ranked = predict(context(), predictor, random_points(3, 30, 1), 1, 2, 4);
    EXPECT_THAT(ranked.labels, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(ranked.scores, ElementsAre(1, 1, 1, 1));
  }
}

TEST_P(PredictorTest, ATinyPathScoreLeavesTheScoreAloneWhereGammaIsZero) {
  TinyModel model({});
  std::fill(model.scores.begin(), model.scores.end(), 1e-37F);
  const PredictorWeights weights = model.views();
  const Csr points = random_points(5, 30, 1);
  for (const float gamma : {0.0F, 0.5F}) {
    const SearchSettings settings{.alpha = 6, .beam = 6, .shortlist = 40, .gamma = gamma};
    const Predictor predictor(context(), weights, settings);
    const Ranked ranked = predict(context(), predictor, points, 0, 5, 40);
    for (size_t n = 0; n < 5; ++n) {
      const auto expected = reference::predict(model, points.row(n), settings, {});
      expect_ranking(std::span(ranked.labels).subspan(40 * n, 40),
                     std::span(ranked.scores).subspan(40 * n, 40), expected);
    }
    EXPECT_GT(ranked.scores[0], gamma == 0 ? 0.01 : 1e-20);
  }
}

TEST_P(PredictorTest, NaNsAreTheWorstScores) {
  for (const int64_t C : {0, 6}) {
    TinyModel model({.C = C});
    for (const int32_t label : {0, 3, 20}) model.label_bias.span<float>()[label] = NAN;
    const PredictorWeights weights = model.views();
    const Predictor predictor(context(), weights,
                              {.alpha = 6, .beam = 6, .shortlist = 40, .gamma = 1});
    const Ranked ranked = predict(context(), predictor, random_points(2, 30, 1), 1, 2, 36);
    for (const int32_t label : ranked.labels) EXPECT_FALSE(label == 0 || label == 3 || label == 20);
  }
}

TEST(PredictorThreadsTest, APointIsScoredTheSameAloneAndInAnyBatchOnAnyThreads) {
  for (const int64_t C : {0, 6}) {
    const TinyModel model({.V = 200, .D = 40, .C = C, .L = 300, .layers = 2});
    const PredictorWeights weights = model.views();
    const Csr points = random_points(150, 200, 8);
    const SearchSettings settings{.alpha = 3, .beam = 3, .shortlist = 50, .gamma = 0.5};
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      const Predictor predictor(context, weights, settings);
      const Ranked together = predict(context, predictor, points, 0, 150, 10);
      for (const size_t n : {0, 1, 63, 64, 149}) {
        const Ranked alone = predict(context, predictor, points, n, n + 1, 10);
        EXPECT_TRUE(std::equal(alone.scores.begin(), alone.scores.end(),
                               together.scores.begin() + static_cast<ptrdiff_t>(n) * 10));
        EXPECT_TRUE(std::equal(alone.labels.begin(), alone.labels.end(),
                               together.labels.begin() + static_cast<ptrdiff_t>(n) * 10));
      }
      std::vector<Tensor> results;
      results.emplace_back(Shape{150, 10}, DType::kFloat32);
      std::copy(together.scores.begin(), together.scores.end(),
                results.back().span<float>().begin());
      results.emplace_back(Shape{150, 10}, DType::kInt32);
      std::copy(together.labels.begin(), together.labels.end(),
                results.back().span<int32_t>().begin());
      return results;
    });
  }
}

// By search, and where every label is scored: few points share one scan on all threads, many do
// not.
TEST(PredictorThreadsTest, AllPointsAreThoseOneByOne) {
  for (const auto& [threads, C] : {std::pair(1, 6), {3, 6}, {1, 0}, {3, 0}}) {
    ThreadPool pool(threads);
    const Context context(pool);
    const TinyModel model({.C = C});
    const PredictorWeights weights = model.views();
    const Predictor predictor(context, weights,
                              {.alpha = 3, .beam = 2, .shortlist = 9, .gamma = 1});
    const size_t places = C == 0 ? 15 : 9;
    for (const size_t N : {0, 1, 200, 300}) {
      const Csr points = random_points(N, 30, 2);
      const Csr all = predict_all(context, predictor, points, 15);
      ASSERT_EQ(all.rows(), N);
      EXPECT_EQ(all.cols, 40U);
      for (size_t n = 0; n < N; ++n) {
        const Ranked ranked = predict(context, predictor, points, n, n + 1, 15);
        const CsrRow row = all.row(n);
        EXPECT_TRUE(std::is_sorted(row.columns.begin(), row.columns.end()));
        ASSERT_EQ(row.size(), places);
        for (size_t i = 0; i < places; ++i) {
          const auto at = std::ranges::find(row.columns, static_cast<uint32_t>(ranked.labels[i]));
          ASSERT_NE(at, row.columns.end());
          EXPECT_EQ(row.values[static_cast<size_t>(at - row.columns.begin())], ranked.scores[i]);
        }
      }
    }
    EXPECT_EQ(predict_all(context, predictor, random_points(3, 30, 2), 1000).row(1).size(),
              C == 0 ? 40U : 9U);
  }
}

TEST(PredictorErrorsTest, WhatDoesNotFitTogetherIsRefused) {
  ThreadPool pool(1);
  const Context context(pool);
  const TinyModel model({});
  const TinyModel other({.D = 13, .C = 7, .L = 41});
  const SearchSettings good{.alpha = 3, .beam = 2, .shortlist = 9, .gamma = 1};
  const auto refused = [&](const std::string& message, const auto& spoil) {
    PredictorWeights weights = model.views();
    SearchSettings settings = good;
    spoil(weights, settings);
    EXPECT_THAT([&] { Predictor(context, weights, settings); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  refused("encoder gain is [13], but must be [12]",
          [&](auto& w, auto&) { w.encoder.bag().gain = other.gain; });
  refused("encoder layer's weights is [13, 13], but must be [12, 12]",
          [&](auto& w, auto&) { w.encoder.bag().layers[0].weights = other.residual[0].weights; });
  refused("label weights is [41, 13], but must be [any, 12]",
          [&](auto& w, auto&) { w.label_weights = other.label_weights; });
  refused("label bias is [41], but must be [40]",
          [&](auto& w, auto&) { w.label_bias = other.label_bias; });
  refused("cluster bias is [7], but must be [6]",
          [&](auto& w, auto&) { w.cluster_bias = other.cluster_bias; });
  refused("its graph is of 7 clusters and 41 labels, but it has 6 and 40",
          [&](auto& w, auto&) { w.graph = other.views().graph; });
  refused("labels and 3 scores", [&](auto& w, auto&) { w.graph.scores = w.graph.scores.first(3); });
  refused("the beam is 7, but must be in [1, 6]", [](auto&, auto& s) { s.beam = 7; });
  refused("the shortlist is 0, but must be in [1, 40]", [](auto&, auto& s) { s.shortlist = 0; });
  refused("gamma is nan", [](auto&, auto& s) { s.gamma = NAN; });
  refused("alpha is 0", [](auto&, auto& s) { s.alpha = 0; });
  const PredictorWeights weights = model.views();
  const Predictor predictor(context, weights, good);
  EXPECT_THAT([&] { predict(context, predictor, random_points(2, 31, 1), 0, 2, 1); },
              ThrowsMessage<InputError>(HasSubstr("have 31 features, but the model has 30")));
}

}  // namespace
}  // namespace elias
