#include "train/stages.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace elias {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const Settings& settings) {
  std::vector<std::string> names;
  for (const Stage& stage : stages_of(settings)) names.push_back(stage.name());
  return names;
}

TEST(StagesTest, OnlyThoseWithEpochs) {
  Settings settings;
  settings.warm_epochs = 1;
  settings.stage1_epochs = 2;
  settings.stage2_epochs = 3;
  EXPECT_THAT(names_of(settings), ElementsAre("short stage 1", "stage 1", "stage 2"));
  settings.logit_loss = LogitLoss::kAll;
  EXPECT_THAT(names_of(settings), ElementsAre("one-vs-all", "stage 1", "stage 2"));
  settings.warm_epochs = 0;
  EXPECT_THAT(names_of(settings), ElementsAre("stage 1", "stage 2"));
  settings.stage2_epochs = 0;
  EXPECT_THAT(names_of(settings), ElementsAre("stage 1"));
  settings.method = Method::kOva;
  settings.stage2_epochs = 3;
  EXPECT_THAT(names_of(settings), ElementsAre("one-vs-all"));
}

TEST(StagesTest, EachHasItsEpochsAndRates) {
  Settings settings;
  settings.warm_epochs = 1;
  settings.stage1_epochs = 2;
  settings.stage2_epochs = 3;
  settings.stage1_rates.labels = 0.1F;
  settings.stage2_rates.labels = 0.2F;
  const auto stages = stages_of(settings);
  ASSERT_EQ(stages.size(), 3);
  EXPECT_EQ(stages[0].epochs, 1);
  EXPECT_EQ(stages[1].epochs, 2);
  EXPECT_EQ(stages[2].epochs, 3);
  EXPECT_EQ(stages[0].rates.labels, 0.1F);
  EXPECT_EQ(stages[1].rates.labels, 0.1F);
  EXPECT_EQ(stages[2].rates.labels, 0.2F);
}

TEST(EpochOrderTest, IsAPermutation) {
  for (const int64_t N : {0, 1, 2, 3, 1000}) {
    auto order = epoch_order(N, 7, 1, 2);
    std::vector<uint32_t> all(static_cast<size_t>(N));
    std::iota(all.begin(), all.end(), 0U);
    std::ranges::sort(order);
    EXPECT_EQ(order, all);
  }
}

TEST(EpochOrderTest, IsAFunctionOfSeedStageAndEpoch) {
  const auto order = epoch_order(100, 7, 1, 2);
  EXPECT_EQ(order, epoch_order(100, 7, 1, 2));
  EXPECT_NE(order, epoch_order(100, 7, 1, 3));
  EXPECT_NE(order, epoch_order(100, 7, 2, 2));
  EXPECT_NE(order, epoch_order(100, 8, 1, 2));
}

TEST(EpochOrderTest, EveryOrderTurnsUpAlikeOften) {
  std::map<std::vector<uint32_t>, int> seen;
  for (int64_t epoch = 0; epoch < 2400; ++epoch) ++seen[epoch_order(4, 7, 0, epoch)];
  EXPECT_EQ(seen.size(), 24);
  for (const auto& [order, times] : seen) EXPECT_NEAR(times, 100, 50);  // five deviations
}

}  // namespace
}  // namespace elias
