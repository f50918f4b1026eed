// That losses and gradients are those of the equations is tested for whole steps
// (tests/train/step_test.cc); here is what embeddings promise beside them.
#include "head/embedding_losses.h"

#include <gtest/gtest.h>

#include "head/directions.h"
#include "ops/rows/row_access.h"
#include "tests/data/sparse.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

constexpr int64_t kPoints = 20, kLabels = 30, kWidth = 8;

struct Result {
  EmbeddingSums sums;
  Tensor dphi{{kPoints, kWidth}, DType::kFloat32};
  Tensor dweights{{kLabels, kWidth}, DType::kFloat32};  // of all labels
  Tensor dbias{{kLabels}, DType::kFloat32};
};

class EmbeddingLosses : public testing::Test {
 protected:
  EmbeddingLosses() : matrix_(random_csr(kPoints, kLabels, 4, 4, 1)), phi_(unit(kPoints, 2)) {
    for (uint32_t i = 0; i < kPoints; ++i) points_.push_back(i);
  }

  Tensor unit(int64_t rows, uint64_t seed) {
    return std::move(Directions(context_, random_floats({rows, kWidth}, seed)).unit);
  }

  // Sampled if a kind is given.
  Result losses(std::optional<SampledLoss> kind, ConstTensorView weights, float length) {
    Result result;
    std::ranges::fill(result.dweights.span<float>(), 0.0F);
    std::ranges::fill(result.dbias.span<float>(), 0.0F);
    const BatchLabels labels{.matrix = &matrix_, .points = points_};
    const LabelEmbeddings embeddings{.weights = weights, .bias = bias_, .length = length};
    if (!kind) {
      result.sums = all_embedding_losses(context_, 0.1F, Precision::kFloat32, phi_, embeddings,
                                         labels, result.dphi, result.dweights, result.dbias);
      return result;
    }
    const DrawnLabels drawn = draw_labels(labels, 1, 2);
    Tensor drows({std::ssize(drawn.labels), kWidth}, DType::kFloat32);
    result.sums = sampled_embedding_losses(context_, {.kind = *kind}, Precision::kFloat32, phi_,
                                           embeddings, labels, drawn, result.dphi, drows);
    add_rows(context_.pool(), drawn.labels, drows, result.dweights);
    return result;
  }

  ThreadPool pool_{2};
  Context context_{pool_};
  Csr matrix_;
  std::vector<uint32_t> points_;
  Tensor phi_;
  Tensor bias_ = random_floats({kLabels}, 3);
};

constexpr std::optional<SampledLoss> kKinds[] = {SampledLoss::kMargin, SampledLoss::kSoftmax, {}};

// A row's length is of no consequence, so no step along the row can lower the loss.
TEST_F(EmbeddingLosses, ARowsGradientIsAtRightAnglesToIt) {
  const Tensor weights = random_floats({kLabels, kWidth}, 4);
  for (const auto& kind : kKinds) {
    const Result result = losses(kind, weights, 3);
    double largest = 0;
    for (size_t l = 0; l < kLabels; ++l) {
      double along = 0;
      for (size_t d = 0; d < kWidth; ++d) {
        const double gradient = row_of(ConstTensorView(result.dweights), l)[d];
        along += gradient * double{row_of(ConstTensorView(weights), l)[d]};
        largest = std::max(largest, std::abs(gradient));
      }
      EXPECT_NEAR(along, 0, 1e-5);
    }
    EXPECT_GT(largest, 0.01);
  }
}

TEST_F(EmbeddingLosses, ARowsOwnLengthIsOfNoConsequence) {
  const Tensor weights = random_floats({kLabels, kWidth}, 4);
  Tensor longer = copy_to(Device::kCpu, weights);
  scale(pool_, 4, longer);
  for (const auto& kind : kKinds) {
    const Result result = losses(kind, weights, 3), same = losses(kind, longer, 3);
    EXPECT_NEAR(result.sums.loss, same.sums.loss, 1e-5 * result.sums.loss);
    EXPECT_NEAR(result.sums.dlength, same.sums.dlength, 1e-4);
    expect_near(same.dphi, values_of<double>(result.dphi), 1e-5);
  }
}

// A row of zeros has no direction: it scores 0 and stays where it is.
TEST_F(EmbeddingLosses, RowsAndPointsOfZerosAreFinite) {
  const Tensor weights({kLabels, kWidth}, DType::kFloat32);
  std::ranges::fill(TensorView(phi_).slice(0, 3).span<float>(), 0.0F);
  for (const auto& kind : kKinds) {
    const Result result = losses(kind, weights, 3);
    EXPECT_TRUE(std::isfinite(result.sums.loss));
    for (const float gradient : result.dweights.span<float>()) EXPECT_EQ(gradient, 0);
    for (const float gradient : result.dphi.span<float>()) EXPECT_EQ(gradient, 0);
  }
}

}  // namespace
}  // namespace elias
