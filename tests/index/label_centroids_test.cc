#include "index/label_centroids.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/errors.h"
#include "tests/data/sparse.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr size_t kAll = std::numeric_limits<size_t>::max();
using Matrix = std::vector<std::vector<double>>;

// Of all points, in pieces of three.
Tensor label_sums(const Csr& labels, ConstTensorView phi, ThreadPool& pool) {
  if (!phi) return {};
  Tensor sums({static_cast<int64_t>(labels.cols), phi.width()}, DType::kFloat32);
  for (int64_t begin = 0; begin < phi.rows(); begin += 3) {
    add_to_label_sums(labels, static_cast<size_t>(begin),
                      phi.slice(begin, std::min(begin + 3, phi.rows())), sums, pool);
  }
  return sums;
}

LabelCentroids centroids_of(const Csr& labels, ConstTensorView phi, const Csr& bow,
                            size_t most_terms, ThreadPool& pool) {
  return label_centroids(labels, label_sums(labels, phi, pool), bow, most_terms, pool);
}

double length(std::span<const double> vector) { return std::sqrt(dot(vector, vector)); }

void add_unit(std::span<const double> part, double weight, double* to) {
  if (length(part) == 0) return;
  for (size_t i = 0; i < part.size(); ++i) to[i] += weight * part[i] / length(part);
}

void keep_largest(std::span<double> terms, size_t most) {
  std::vector<size_t> order(terms.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(terms[a]) > std::abs(terms[b]); });
  for (size_t i = most; i < order.size(); ++i) terms[order[i]] = 0;
}

// The twin: everything dense, [L][D + V], with explicit zeros counted as any other value.
Matrix dense_centroids(const Csr& labels, const Tensor& phi, const Csr& bow, size_t most_terms) {
  const size_t D = phi ? static_cast<size_t>(phi.shape()[1]) : 0;
  Matrix centroids(labels.cols, std::vector<double>(D + bow.cols));
  for (size_t i = 0; i < labels.rows(); ++i) {
    std::vector<double> dense(D), terms(bow.cols);
    for (size_t d = 0; d < D; ++d) dense[d] = phi.span<float>()[i * D + d];
    for (size_t j = 0; bow.cols > 0 && j < bow.row(i).size(); ++j) {
      terms[bow.row(i).columns[j]] = bow.row(i).values[j];
    }
    for (size_t j = 0; j < labels.row(i).size(); ++j) {
      double* centroid = centroids[labels.row(i).columns[j]].data();
      add_unit(dense, labels.row(i).values[j], centroid);
      add_unit(terms, labels.row(i).values[j], centroid + D);
    }
  }
  for (auto& centroid : centroids) {
    keep_largest({centroid.data() + D, bow.cols}, most_terms);
    const double scale = length(centroid) > 0 ? 1 / length(centroid) : 0;
    for (double& value : centroid) value *= scale;
  }
  return centroids;
}

Matrix as_dense(const LabelCentroids& centroids) {
  const size_t D = centroids.dense ? static_cast<size_t>(centroids.dense.shape()[1]) : 0;
  Matrix result;
  for (size_t l = 0; l < static_cast<size_t>(centroids.labels()); ++l) {
    std::vector<double> row(D + centroids.sparse.cols);
    for (size_t d = 0; d < D; ++d) row[d] = centroids.dense.span<float>()[l * D + d];
    const CsrRow terms = centroids.sparse.row(l);
    for (size_t i = 0; i < terms.size(); ++i) row[D + terms.columns[i]] = terms.values[i];
    result.push_back(row);
  }
  return result;
}

void expect_near(const Matrix& actual, const Matrix& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t l = 0; l < actual.size(); ++l) {
    ASSERT_EQ(actual[l].size(), expected[l].size());
    for (size_t i = 0; i < actual[l].size(); ++i) {
      ASSERT_NEAR(actual[l][i], expected[l][i], 1e-6) << "label " << l << " column " << i;
    }
  }
}

TEST(LabelCentroids, BothPartsWeighTheSame) {
  // Point 0 has phi 3 long and a bag 5 long: each part counts as a unit vector.
  const Csr labels = csr_of(1, {{{0, 1}}});
  const Tensor phi = tensor_of<float>({1, 2}, {0, 3});
  const Csr bow = csr_of(4, {{{1, 3}, {3, 4}}});
  ThreadPool pool(1);
  const LabelCentroids centroids = centroids_of(labels, phi, bow, kAll, pool);
  const double half = std::sqrt(0.5);
  expect_near(as_dense(centroids), {{0, half, 0, 0.6 * half, 0, 0.8 * half}});
  EXPECT_THAT(centroids.sparse.columns, ElementsAre(1, 3));
}

TEST(LabelCentroids, MatchesTheDenseTwin) {
  ThreadPool pool(2);
  const size_t N = 300;
  for (const uint64_t seed : {1, 2, 3}) {
    const Csr labels = random_csr(N, 150, 6, 4, seed);
    const Csr bow = random_csr(N, 80, 20, 1000, seed + 10), no_bow;
    const Tensor phi = random_floats({static_cast<int64_t>(N), 9}, seed), no_phi;
    for (const size_t most_terms : {kAll, size_t{7}, size_t{1}, size_t{0}}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " most_terms " << most_terms);
      expect_near(as_dense(centroids_of(labels, phi, bow, most_terms, pool)),
                  dense_centroids(labels, phi, bow, most_terms));
      expect_near(as_dense(centroids_of(labels, {}, bow, most_terms, pool)),
                  dense_centroids(labels, no_phi, bow, most_terms));
    }
    expect_near(as_dense(centroids_of(labels, phi, no_bow, kAll, pool)),
                dense_centroids(labels, phi, no_bow, kAll));
  }
}

TEST(LabelCentroids, PhiMayBeColumnsOfAWiderMatrix) {
  ThreadPool pool(1);
  const Csr labels = random_csr(50, 20, 4, 1, 1);
  const Tensor wide = random_floats({50, 12}, 5);
  Tensor narrow({50, 5}, DType::kFloat32);
  copy(wide.view().columns(3, 8), narrow);
  EXPECT_EQ(as_dense(centroids_of(labels, wide.view().columns(3, 8), {}, kAll, pool)),
            as_dense(centroids_of(labels, narrow, {}, kAll, pool)));
}

TEST(LabelCentroids, OfEqualTermsTheLowerColumnsStay) {
  const Csr labels = csr_of(1, {{{0, 1}}, {{0, 1}}});
  const Csr bow = csr_of(9, {{{2, 1}, {5, 1}, {7, 1}, {8, 1}}, {{8, 1}, {1, 1}, {5, 1}, {2, 1}}});
  ThreadPool pool(1);
  const auto columns_of = [&](size_t most_terms) {
    return centroids_of(labels, {}, bow, most_terms, pool).sparse.columns;
  };
  EXPECT_THAT(columns_of(2), ElementsAre(2, 5));
  EXPECT_THAT(columns_of(4), ElementsAre(1, 2, 5, 8));
  EXPECT_THAT(columns_of(5), ElementsAre(1, 2, 5, 7, 8));
}

TEST(LabelCentroids, LargeTermsStayWhateverTheirSign) {
  const Csr labels = csr_of(1, {{{0, 1}}});
  const Csr bow = csr_of(4, {{{0, 1}, {1, -5}, {2, 2}, {3, -1}}});
  ThreadPool pool(1);
  EXPECT_THAT(centroids_of(labels, {}, bow, 2, pool).sparse.columns, ElementsAre(1, 2));
}

TEST(LabelCentroids, WithoutPointsOrFeaturesALabelIsZero) {
  // Label 0 has no point, label 1 one without features, label 2 one of relevance 0.
  const Csr labels = csr_of(4, {{{1, 1}}, {{2, 0}, {3, 1}}});
  const Tensor phi = tensor_of<float>({2, 2}, {0, 0, 1, 0});
  const Csr bow = csr_of(3, {{}, {{2, 5}}});
  ThreadPool pool(1);
  const auto centroids = as_dense(centroids_of(labels, phi, bow, kAll, pool));
  for (const size_t l : {0, 1, 2}) EXPECT_THAT(centroids[l], Each(0.0)) << l;
  EXPECT_NEAR(length(centroids[3]), 1, 1e-6);
}

TEST(LabelCentroids, RefusesFeaturesOfOtherPoints) {
  ThreadPool pool(1);
  const Csr labels = random_csr(5, 3, 2, 1, 1);
  const Tensor phi({4, 2}, DType::kFloat32);
  Tensor sums({3, 2}, DType::kFloat32);
  EXPECT_THROW(add_to_label_sums(labels, 2, phi, sums, pool), InternalError);
  EXPECT_THROW(label_centroids(labels, Tensor({4, 2}, DType::kFloat32), {}, kAll, pool),
               InternalError);
  EXPECT_THROW(centroids_of(labels, {}, random_csr(6, 3, 2, 1, 1), kAll, pool), InternalError);
}

TEST(LabelCentroidsThread, SameBitsAtAnyNumberOfThreads) {
  const Csr labels = random_csr(2000, 700, 5, 3, 1);
  const Csr bow = random_csr(2000, 300, 30, 1000, 2);
  const Tensor phi = random_floats({2000, 16}, 3);
  ThreadPool one(1);
  const LabelCentroids expected = centroids_of(labels, phi, bow, 12, one);
  for (const int threads : {2, 3, 7}) {
    ThreadPool pool(threads);
    const LabelCentroids actual = centroids_of(labels, phi, bow, 12, pool);
    EXPECT_TRUE(std::ranges::equal(actual.dense.span<float>(), expected.dense.span<float>()));
    EXPECT_EQ(actual.sparse.offsets, expected.sparse.offsets);
    EXPECT_EQ(actual.sparse.columns, expected.sparse.columns);
    EXPECT_EQ(actual.sparse.values, expected.sparse.values);
  }
}

}  // namespace
}  // namespace elias
