#include "head/sampled_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/sparse.h"
#include "tests/head/sampled_losses_reference.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using testing::ElementsAre;

struct Batch {
  explicit Batch(uint64_t seed) : matrix(random_csr(40, 30, 4, 4, seed)), points(37) {
    for (size_t i = 0; i < matrix.values.size(); i += 7) matrix.values[i] = 0;
    for (size_t i = 0; i < points.size(); ++i) points[i] = static_cast<uint32_t>((7 * i) % 40);
  }
  BatchLabels labels() const { return {.matrix = &matrix, .points = points}; }

  Csr matrix;
  std::vector<uint32_t> points;
};

TEST(SampledLosses, AgreeWithTheirDefinitionAndFiniteDifferences) {
  ThreadPool pool(2);
  const Context context(pool);
  const Batch batch(1);
  const DrawnLabels drawn = draw_labels(batch.labels(), 3, 4);
  const auto N = static_cast<int64_t>(drawn.own.size());
  const auto R = static_cast<int64_t>(drawn.labels.size());
  for (const SampledLoss kind : {SampledLoss::kMargin, SampledLoss::kSoftmax}) {
    for (const int64_t mined : {0, 3}) {
      const SampledLossOptions options{
          .kind = kind, .margin = 0.4F, .mined = mined, .weight = 0.5F};
      Tensor scores = random_floats({N, R}, 5);
      const std::vector<double> before = values_of<double>(scores);
      const double loss = sampled_losses(context, options, batch.labels(), drawn, scores);
      const double wanted = reference::sampled_losses(options, batch.labels(), drawn, before);
      EXPECT_GT(wanted, 1);
      EXPECT_NEAR(loss, wanted, 1e-5 * wanted);
      expect_gradient(
          [&](const auto& x) {
            return reference::sampled_losses(options, batch.labels(), drawn, x) / 2;
          },
          before, values_of<double>(scores), 1e-6, 1e-5);
    }
  }
}

TEST(SampledLosses, OtherLabelsOfAPointDoNotStandAgainstIt) {
  ThreadPool pool(1);
  const Csr matrix = csr_of(3, {{{0, 1}, {1, 1}}, {{1, 1}}, {{2, 1}}});
  const std::vector<uint32_t> points = {0, 1, 2};
  const BatchLabels labels{.matrix = &matrix, .points = points};
  const DrawnLabels drawn{.labels = {0, 1, 2}, .own = {0, 1, 2}};
  Tensor scores({3, 3}, DType::kFloat32);  // all 0: every rival is within the margin
  const SampledLossOptions options{.margin = 1};
  EXPECT_EQ(sampled_losses(Context(pool), options, labels, drawn, scores), 1 + 2 + 2);
  EXPECT_THAT(scores.span<float>(), ElementsAre(-1, 0, 1, 1, -2, 1, 1, 1, -2));
}

TEST(SampledLosses, PointsWithoutLabelsLearnNothing) {
  ThreadPool pool(1);
  const Csr matrix = csr_of(3, {{}, {{1, 1}}, {{2, 0}}, {{0, 1}}});
  const std::vector<uint32_t> points = {0, 1, 2, 3};
  const BatchLabels labels{.matrix = &matrix, .points = points};
  const DrawnLabels drawn = draw_labels(labels, 0, 0);
  EXPECT_THAT(drawn.labels, ElementsAre(0, 1));
  EXPECT_THAT(drawn.own, ElementsAre(DrawnLabels::kNone, 1, DrawnLabels::kNone, 0));
  Tensor scores = random_floats({4, 2}, 1);
  sampled_losses(Context(pool), {.margin = 9}, labels, drawn, scores);
  EXPECT_THAT(scores.span<float>(), ElementsAre(0, 0, 1, -1, 0, 0, -1, 1));
}

TEST(SampledLosses, ALoneLabelHasNoLoss) {
  ThreadPool pool(1);
  const Csr matrix = csr_of(1, {{{0, 1}}, {{0, 1}}});
  const std::vector<uint32_t> points = {0, 1};
  const BatchLabels labels{.matrix = &matrix, .points = points};
  const DrawnLabels drawn = draw_labels(labels, 0, 0);
  for (const SampledLoss kind : {SampledLoss::kMargin, SampledLoss::kSoftmax}) {
    Tensor scores = random_floats({2, 1}, 1);
    EXPECT_EQ(sampled_losses(Context(pool), {.kind = kind}, labels, drawn, scores), 0);
    EXPECT_THAT(scores.span<float>(), ElementsAre(0, 0));
  }
}

TEST(SampledLosses, EveryLabelOfAPointIsDrawnAboutAsOften) {
  const Csr matrix = csr_of(9, {{{2, 1}, {5, 1}, {6, 0}, {8, 1}}});
  const std::vector<uint32_t> points = {0};
  std::vector<int> times(9, 0);
  constexpr int kDraws = 6000;
  for (uint64_t step = 0; step < kDraws; ++step) {
    const DrawnLabels drawn = draw_labels({.matrix = &matrix, .points = points}, 1, step);
    ASSERT_EQ(drawn.labels.size(), 1U);
    ++times[static_cast<size_t>(drawn.labels[0])];
  }
  for (const size_t label : {2, 5, 8}) EXPECT_NEAR(times[label], kDraws / 3, 200);
  EXPECT_EQ(times[6], 0);
}

TEST(SampledLosses, TheSameBitsAtAnyNumberOfThreads) {
  const Batch batch(2);
  const DrawnLabels drawn = draw_labels(batch.labels(), 3, 4);
  const Shape shape{static_cast<int64_t>(drawn.own.size()),
                    static_cast<int64_t>(drawn.labels.size())};
  for (const SampledLoss kind : {SampledLoss::kMargin, SampledLoss::kSoftmax}) {
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      std::vector<Tensor> results;
      results.push_back(random_floats(shape, 5));
      sampled_losses(context, {.kind = kind, .mined = 5}, batch.labels(), drawn, results[0]);
      return results;
    });
  }
}

}  // namespace
}  // namespace elias
