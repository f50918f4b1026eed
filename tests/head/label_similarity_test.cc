#include "head/label_similarity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/sparse.h"

namespace elias {
namespace {

// U as its definition has it: dense, from Y'Y.
std::vector<double> dense_similarity(const Csr& labels, Similarity kind) {
  const auto L = static_cast<size_t>(labels.cols);
  const auto N = static_cast<double>(labels.rows());
  std::vector<double> a(L * L);
  for (size_t i = 0; i < labels.rows(); ++i) {
    const CsrRow row = labels.row(i);
    for (size_t j = 0; j < row.size(); ++j) {
      for (size_t k = 0; k < row.size(); ++k) {
        if (row.values[j] > 0 && row.values[k] > 0) a[row.columns[j] * L + row.columns[k]] += 1;
      }
    }
  }
  std::vector<double> u(L * L);
  for (size_t y = 0; y < L; ++y) {
    for (size_t z = 0; z < L; ++z) {
      const double shared = a[y * L + z], first = a[y * L + y], second = a[z * L + z];
      if (y == z || shared == 0) continue;
      double& out = u[y * L + z];
      if (kind == Similarity::kArithmetic) out = (shared / first + shared / second) / 2;
      if (kind == Similarity::kGeometric) out = std::sqrt(shared / first * (shared / second));
      if (kind == Similarity::kJaccard) out = shared / (first + second - shared);
      if (kind == Similarity::kPmi) {
        const double together = shared / N, apart = first / N * (second / N);
        out = together == 1 ? 1 : std::max(0.0, std::log(together / apart) / -std::log(together));
      }
    }
  }
  return u;
}

constexpr Similarity kAll[] = {Similarity::kArithmetic, Similarity::kGeometric,
                               Similarity::kJaccard, Similarity::kPmi};

TEST(LabelSimilarity, AgreesWithTheDenseProduct) {
  ThreadPool pool(2);
  // More labels than a chunk of work has; with a value of 0 now and then.
  Csr labels = random_csr(400, 700, 6, 4, 1);
  for (size_t i = 0; i < labels.values.size(); i += 9) labels.values[i] = 0;
  for (const Similarity kind : kAll) {
    const Csr u = label_similarity(labels, kind, pool);
    const std::vector<double> wanted = dense_similarity(labels, kind);
    ASSERT_EQ(u.rows(), 700U);
    std::vector<double> dense(wanted.size());
    for (size_t y = 0; y < u.rows(); ++y) {
      const CsrRow row = u.row(y);
      for (size_t j = 0; j < row.size(); ++j) {
        ASSERT_GT(row.values[j], 0) << "zeros are not kept";
        ASSERT_TRUE(j == 0 || row.columns[j] > row.columns[j - 1]);
        dense[y * 700 + row.columns[j]] = double{row.values[j]};
      }
    }
    for (size_t i = 0; i < dense.size(); ++i) ASSERT_NEAR(dense[i], wanted[i], 1e-6);
  }
}

TEST(LabelSimilarity, ABlockIsThatOfTheMatrix) {
  ThreadPool pool(2);
  const Csr labels = random_csr(300, 60, 5, 4, 2);
  const Csr u = label_similarity(labels, Similarity::kArithmetic, pool);
  const std::vector<double> dense = dense_similarity(labels, Similarity::kArithmetic);
  const std::vector<int32_t> some = {0, 1, 2, 5, 8, 13, 21, 34, 55, 59};
  Tensor block({10, 10}, DType::kFloat32);
  std::ranges::fill(block.span<float>(), 7.0F);
  similarity_block(u, some, pool, block);
  for (size_t i = 0; i < some.size(); ++i) {
    for (size_t j = 0; j < some.size(); ++j) {
      EXPECT_NEAR(block.span<float>()[i * 10 + j],
                  dense[static_cast<size_t>(some[i]) * 60 + static_cast<size_t>(some[j])], 1e-6);
    }
  }
}

TEST(LabelSimilarity, LabelsWithoutPointsAndPointsOfOneLabelAreAlikeToNone) {
  ThreadPool pool(1);
  for (const Similarity kind : kAll) {
    const Csr u = label_similarity(csr_of(4, {{{0, 1}}, {{1, 1}}, {}}), kind, pool);
    EXPECT_EQ(u.rows(), 4U);
    EXPECT_EQ(u.nonzeros(), 0U);
    // Labels that all points have.
    const Csr both = label_similarity(csr_of(2, {{{0, 1}, {1, 1}}, {{0, 1}, {1, 1}}}), kind, pool);
    EXPECT_EQ(both.values, (std::vector<float>{1, 1}));
  }
}

TEST(LabelSimilarity, TheSameBitsAtAnyNumberOfThreads) {
  ThreadPool one(1), many(7);
  const Csr labels = random_csr(500, 900, 6, 4, 3);
  const Csr a = label_similarity(labels, Similarity::kPmi, one);
  const Csr b = label_similarity(labels, Similarity::kPmi, many);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.values, b.values);
}

}  // namespace
}  // namespace elias
