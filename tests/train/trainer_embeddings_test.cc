// What holds of every trained embedding classifier, whatever it has learned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "encoder/encode_all.h"
#include "tests/train/small_runs.h"

namespace elias {
namespace {

constexpr uint32_t kLabels = 24;

TrainingData small_data(ThreadPool& pool) {
  const SynthWorld world({.labels = kLabels, .points = 240, .groups = 2});
  return synth_data(world, 240, 60, pool);
}

/// Trains, and calls use(kept) for each model that is kept.
void train_embeddings(const Context& context, EmbeddingLoss loss, const TrainingData& data,
                      const std::function<void(const Member&)>& use) {
  SmallRun run;
  run.keep = use;
  ASSERT_EQ(run.train(context, small_glas_settings(loss), data), Outcome::kFinished);
  ASSERT_GT(run.kept, 0);
}

float length_of(std::span<const float> values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0F));
}

std::vector<float> row_lengths(ConstTensorView matrix) {
  const auto D = static_cast<size_t>(matrix.width());
  std::vector<float> lengths;
  for (size_t i = 0; i < static_cast<size_t>(matrix.rows()); ++i) {
    lengths.push_back(length_of(matrix.span<float>().subspan(i * D, D)));
  }
  return lengths;
}

std::vector<float> scaled_column_lengths(ConstTensorView matrix, std::span<const float> scales) {
  const auto D = static_cast<size_t>(matrix.width());
  std::vector<double> squares(D);
  const auto values = matrix.span<float>();
  for (size_t i = 0; i < values.size(); ++i) squares[i % D] += double{values[i]} * values[i];
  std::vector<float> lengths;
  for (size_t d = 0; d < D; ++d) {
    lengths.push_back(static_cast<float>(std::sqrt(squares[d])) * scales[d]);
  }
  return lengths;
}

// Those of a batch learn only from labels that points have: others would stay where they began.
TEST(TrainerEmbeddings, LabelsWithoutPointsAreFoundBehindAllOthers) {
  ThreadPool pool(2);
  const Context context(pool);
  TrainingData data = small_data(pool);
  constexpr uint64_t kUnseen = 40;
  data.labels.cols = data.held_out_labels.cols = kLabels + kUnseen;
  const std::vector<uint64_t> counts = column_counts(data.labels);
  const auto seen = std::ranges::count_if(counts, [](uint64_t count) { return count > 0; });
  ASSERT_GT(seen, 10);
  for (const EmbeddingLoss loss : {EmbeddingLoss::kMargin, EmbeddingLoss::kSoftmax}) {
    train_embeddings(context, loss, data, [&](const Member& kept) {
      const Predictor predictor(context, kept.weights, kept.search);
      const Csr found = predict_all(context, predictor, data.held_out_features, seen);
      for (const uint32_t label : found.columns) ASSERT_GT(counts[label], 0) << label;
    });
  }
}

TEST(TrainerEmbeddings, WeightNormalisationKeepsLengths) {
  ThreadPool pool(2);
  const Context context(pool);
  const TrainingData data = small_data(pool);
  for (const EmbeddingLoss loss :
       {EmbeddingLoss::kMargin, EmbeddingLoss::kSoftmax, EmbeddingLoss::kOva}) {
    train_embeddings(context, loss, data, [&](const Member& kept) {
      const auto& encoder = kept.weights.encoder.bag();
      const auto columns = scaled_column_lengths(encoder.table, encoder.gain.span<float>());
      EXPECT_THAT(columns, testing::Each(testing::FloatNear(columns[0], 1e-5F * columns[0])));
      const auto labels = row_lengths(kept.weights.label_weights);
      EXPECT_THAT(labels, testing::Each(testing::FloatNear(labels[0], 1e-5F * labels[0])));
      encode_all(context, kept.weights.encoder, data.features, [&](size_t, ConstTensorView phi) {
        EXPECT_THAT(row_lengths(phi), testing::Each(testing::FloatNear(1, 1e-5F)));
      });
    });
  }
}

}  // namespace
}  // namespace elias
