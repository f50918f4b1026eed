#include "encoder/word_dropout.h"

#include <gmock/gmock.h>

#include <numeric>

#include "base/random.h"

namespace elias {
namespace {

using testing::ElementsAre;

// Row i has i features; with `rows` rows.
Csr staircase(uint32_t rows) {
  Csr matrix;
  matrix.cols = rows;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < row; ++column) {
      matrix.columns.push_back(column);
      matrix.values.push_back(static_cast<float>(row) + static_cast<float>(column) / 1024);
    }
    matrix.finish_row(Csr::Repeats::kSum);
  }
  return matrix;
}

std::vector<uint32_t> all_points(const Csr& matrix) {
  std::vector<uint32_t> points(matrix.rows());
  std::iota(points.begin(), points.end(), 0);
  return points;
}

// The features left of each point, as (id, weight).
using Rows = std::vector<std::vector<std::pair<int32_t, float>>>;
Rows rows_of(const BagBatch& batch) {
  const Bags bags = batch.view();
  const auto offsets = bags.offsets.span<int32_t>();
  Rows rows(offsets.size() - 1);
  for (size_t n = 0; n < rows.size(); ++n) {
    for (int32_t e = offsets[n]; e < offsets[n + 1]; ++e) {
      rows[n].emplace_back(bags.ids.span<int32_t>()[e], bags.weights.span<float>()[e]);
    }
  }
  EXPECT_EQ(bags.ids.width(), offsets.back());
  return rows;
}

Rows gather(const Csr& matrix, const std::vector<uint32_t>& points, float rate, uint64_t step = 1,
            int threads = 2) {
  ThreadPool pool(threads);
  BagBatch batch;
  gather_bags(matrix, points, rate, /*seed=*/5, step, batch, pool);
  return rows_of(batch);
}

TEST(WordDropoutTest, WithoutItRowsAreWhole) {
  const Csr matrix = staircase(4);
  EXPECT_THAT(gather(matrix, {3, 0, 1, 3}, 0),
              ElementsAre(ElementsAre(std::pair(0, 3.0F), std::pair(1, 3 + 1.0F / 1024),
                                      std::pair(2, 3 + 2.0F / 1024)),
                          ElementsAre(), ElementsAre(std::pair(0, 1.0F)), testing::SizeIs(3)));
  EXPECT_TRUE(gather(matrix, {}, 0).empty());
}

// What stays is decided by word i % 4 of the point's block i / 4.
TEST(WordDropoutTest, MatchesItsDefinition) {
  const float rate = 0.3F;
  const uint64_t step = 9;
  const Csr matrix = staircase(50);
  const Rows rows = gather(matrix, all_points(matrix), rate, step);
  for (uint32_t point = 0; point < 50; ++point) {
    std::vector<std::pair<int32_t, float>> expected;
    for (uint32_t i = 0; i < point; ++i) {
      const auto words = philox({i / 4, point, static_cast<uint32_t>(step), 2U << 24}, {5, 0});
      if (words[i % 4] < static_cast<uint64_t>(double{rate} * 0x1p32)) continue;
      expected.emplace_back(i, static_cast<float>(point) + static_cast<float>(i) / 1024);
    }
    if (expected.empty() && point > 0) expected.emplace_back(0, point);
    EXPECT_EQ(rows[point], expected) << "point " << point;
  }
}

TEST(WordDropoutTest, DropsTheShareAsked) {
  const Csr matrix = staircase(400);
  for (const float rate : {0.1F, 0.5F, 0.9F}) {
    size_t kept = 0;
    for (const auto& row : gather(matrix, all_points(matrix), rate)) kept += row.size();
    EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(matrix.nonzeros()), 1 - rate, 0.01);
  }
}

TEST(WordDropoutTest, APointKeepsAFeature) {
  const Csr matrix = staircase(200);
  const Rows rows = gather(matrix, all_points(matrix), 0.999F);
  EXPECT_TRUE(rows[0].empty());
  size_t firsts = 0;
  for (size_t point = 1; point < rows.size(); ++point) {
    ASSERT_FALSE(rows[point].empty());
    firsts += rows[point].size() == 1 && rows[point][0].first == 0;
  }
  EXPECT_GT(firsts, 100);
}

TEST(WordDropoutTest, AStepDropsOthersAndABatchDoesNotMatter) {
  const Csr matrix = staircase(100);
  const Rows rows = gather(matrix, all_points(matrix), 0.5F);
  EXPECT_NE(rows, gather(matrix, all_points(matrix), 0.5F, /*step=*/2));
  EXPECT_THAT(gather(matrix, {70, 20}, 0.5F), ElementsAre(rows[70], rows[20]));
}

TEST(WordDropoutTest, ABatchIsUsedAgain) {
  const Csr matrix = staircase(100);
  ThreadPool pool(2);
  BagBatch batch;
  gather_bags(matrix, all_points(matrix), 0, 1, 1, batch, pool);
  const std::vector<uint32_t> points = {2, 1};
  gather_bags(matrix, points, 0, 1, 1, batch, pool);
  EXPECT_EQ(rows_of(batch), gather(matrix, points, 0));
}

TEST(WordDropoutThreadsTest, SameAtAnyThreadCount) {
  const Csr matrix = staircase(300);
  const Rows expected = gather(matrix, all_points(matrix), 0.4F, 1, /*threads=*/1);
  for (const int threads : {2, 3, 7}) {
    EXPECT_EQ(gather(matrix, all_points(matrix), 0.4F, 1, threads), expected) << threads;
  }
}

}  // namespace
}  // namespace elias
