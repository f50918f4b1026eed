#include <gtest/gtest.h>

#include "train/settings.h"

namespace elias {
namespace {

class MemoryEstimateTest : public testing::Test {
 protected:
  MemoryEstimateTest() { resolve(settings_, sizes_); }

  /// The bytes of a part; 0 if the largest phase has none of that name.
  uint64_t part(const std::string& name) const {
    for (const auto& [own, bytes] : estimate_memory(settings_, sizes_, kThreads).parts) {
      if (own == name) return bytes;
    }
    return 0;
  }
  uint64_t total(int threads = kThreads) const {
    return estimate_memory(settings_, sizes_, threads).total();
  }

  static constexpr int kThreads = 4;
  static constexpr uint64_t kWidth = 512, kLabels = 500'000, kFeatures = 200'000;
  DataSizes sizes_{1'000'000, kLabels, 4, kFeatures, 100};
  Settings settings_;
};

TEST_F(MemoryEstimateTest, IsTheSumOfItsParts) {
  uint64_t sum = 0;
  for (const auto& [part, bytes] : estimate_memory(settings_, sizes_, kThreads).parts) sum += bytes;
  EXPECT_EQ(total(), sum);
}

TEST_F(MemoryEstimateTest, WeightsAreCountedByTheWayTheyAreStepped) {
  sizes_.points = 1000;  // no phase but the last stage is large
  settings_.batch = 16;
  settings_.warm_epochs = 0;
  settings_.logit_loss = LogitLoss::kShortlist;
  ASSERT_GT(part("label graph"), 0U);
  EXPECT_EQ(part("embedding table"), kFeatures * kWidth * 16);
  EXPECT_EQ(part("label classifiers"), kLabels * kWidth * 18);  // by rows: no gradient, but a copy
  EXPECT_EQ(part("search"), kThreads * kLabels * 56);
  settings_.logit_loss = LogitLoss::kAll;
  EXPECT_EQ(part("label classifiers"), kLabels * kWidth * 20);
  settings_.average_from = 1;
  EXPECT_EQ(part("label classifiers"), kLabels * kWidth * 16);
  settings_.method = Method::kOva;
  EXPECT_EQ(part("label classifiers"), kLabels * kWidth * 16);
  EXPECT_EQ(part("label graph"), 0U);
  EXPECT_EQ(part("search"), 0U);
}

TEST_F(MemoryEstimateTest, ATransformerHasItsOwnTableAndActivations) {
  sizes_.points = 1000;
  sizes_.transformer = TransformerShape{.vocabulary = 1000,
                                        .positions = 24,
                                        .types = 0,
                                        .width = kWidth,
                                        .heads = 8,
                                        .inner = 2048,
                                        .layers = 3};
  sizes_.tokens_per_point = 20;
  settings_.encoder = "somewhere";
  settings_.max_length = 128;
  settings_.batch = 256;
  settings_.method = Method::kOva;
  // What training started with stays: 4 bytes a weight.
  const uint64_t layers = 3 * (4 * kWidth * kWidth + 2 * kWidth * 2048);
  EXPECT_EQ(part("embedding table"), 1024 * kWidth * 20);
  EXPECT_EQ(part("encoder layers"), layers * 24);
  const uint64_t short_texts = part("activations");
  sizes_.tokens_per_point = 60;
  const uint64_t longer_texts = part("activations");
  EXPECT_GT(longer_texts, 2 * short_texts);
  settings_.activations = 0.1F;
  EXPECT_LT(part("activations"), longer_texts);

  // While the ranker learns: the model, as it is read from its file, and the start.
  settings_.ensemble = 40;
  EXPECT_EQ(part("encoder"), (1024 * kWidth + layers) * (40 * 10 + 4));
}

TEST_F(MemoryEstimateTest, ARegulariserNeedsRoomForPairsOfLabels) {
  settings_.method = Method::kOva;
  const uint64_t batch = part("a batch");
  EXPECT_EQ(part("label similarity"), 0U);
  settings_.regulariser = Regulariser::kSpreadout;
  EXPECT_EQ(part("label similarity"), 0U);
  EXPECT_GT(part("a batch"), batch);
  settings_.regulariser = Regulariser::kGlas;
  EXPECT_EQ(part("label similarity"), sizes_.points * 4 * 4 * 8);
  settings_.batch = 512;  // 4 labels a point: 2,048 with each other, twice
  settings_.regularised = RegularisedLabels::kDrawn;
  const uint64_t drawn = part("a batch");
  settings_.regularised = RegularisedLabels::kBatch;
  EXPECT_GE(part("a batch"), drawn + (2048 * 2048 - 512 * 512) * 8);
  settings_.batch = 4096;  // so many count at most
  const uint64_t most = uint64_t{kMostRegularised} * kMostRegularised * 8;
  EXPECT_GT(part("a batch"), most);
  EXPECT_LT(part("a batch"), 5 * most);
}

TEST_F(MemoryEstimateTest, EmbeddingsAreKeptAsTheyPredict) {
  settings_.method = Method::kGlas;
  settings_.ranker = RankerChoice::kOff;
  settings_.loss = EmbeddingLoss::kSoftmax;
  const uint64_t batch = part("a batch");
  EXPECT_EQ(part("label embeddings"), kLabels * kWidth * 4);
  EXPECT_EQ(part("label classifiers"), kLabels * kWidth * 16);  // by rows, without a copy in bf16
  settings_.batch *= 2;
  EXPECT_GT(part("a batch"), 2 * batch);  // all points with all that is drawn
  settings_.loss = EmbeddingLoss::kOva;
  EXPECT_EQ(part("label embeddings"), kLabels * kWidth * 12);
  EXPECT_EQ(part("label classifiers"), kLabels * kWidth * 20);
}

TEST_F(MemoryEstimateTest, FoldsTakeThePointsOnceMore) {
  const uint64_t points = part("points"), before = total();
  settings_.ranker_folds = 3;
  EXPECT_EQ(part("points"), 2 * points);
  EXPECT_EQ(total(), before + points);
}

TEST_F(MemoryEstimateTest, AllMembersOfAnEnsembleLieThereForTheRanker) {
  settings_.ensemble = 16;
  EXPECT_EQ(part("label classifiers"), 16 * kLabels * kWidth * 4);
  EXPECT_EQ(part("search"), 16 * kThreads * kLabels * 28);
  EXPECT_GT(part("ranker"), 0U);
}

TEST_F(MemoryEstimateTest, OfThePhasesTheLargestCounts) {
  // 1,000,000 points with 20 clusters for each of 40 labels: A' outgrows all else.
  sizes_.labels_per_point = 40;
  const uint64_t pairs = 1'000'000ULL * 40 * 20;
  EXPECT_EQ(part("graph building"), pairs * 12 + pairs / 8 * 20);
  EXPECT_EQ(part("clustering"), 0U);
  EXPECT_EQ(part("label graph"), 0U);
  EXPECT_EQ(part("embedding table"), kFeatures * kWidth * 12);  // averages come later
  // Without stage 2 there is no graph: clustering again, with phi summed up by label, is next.
  settings_.stage2_epochs = 0;
  EXPECT_EQ(part("graph building"), 0U);
  EXPECT_GT(part("clustering"), kLabels * kWidth * 4);
  EXPECT_GT(total(64), total(1));  // each thread has vectors of its own
}

TEST_F(MemoryEstimateTest, ATinyRunIsTiny) {
  sizes_ = {400, 40, 3, 400, 14};
  settings_ = {};
  settings_.width = 32;
  resolve(settings_, sizes_);
  EXPECT_LT(total(), uint64_t{2} << 20);
}

}  // namespace
}  // namespace elias
