#include "train/neighbours_stage.h"

#include <gmock/gmock.h>

#include "base/errors.h"
#include "tests/model/tiny_model.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class NeighboursStageTest : public testing::Test {
 protected:
  /// Of the last run.
  nlohmann::ordered_json said(const char* field) const { return log_.at(field); }

  std::optional<LearnedNeighbours> learn(const Settings& settings, int64_t L = 600) {
    const TinyModel model({.C = 0, .L = L});
    TrainingHooks hooks;
    hooks.stop = [&] { return stop_; };
    hooks.progress = [&](const TrainingProgress& at) { shares_.push_back(at.share); };
    hooks.log = [&](const std::string& event, const nlohmann::ordered_json& fields) {
      EXPECT_EQ(event, "hnsw");
      log_ = fields;
    };
    return learn_neighbours(context_, settings, data_,
                            {.weights = model.views(), .search = {}, .stage1_clusters = {}}, hooks);
  }

  ThreadPool pool_{2};
  Context context_{pool_};
  TrainingData data_{.features = random_points(300, 30, 1),
                     .labels = {},
                     .held_out_features = random_points(50, 30, 2),
                     .held_out_labels = {}};
  bool stop_ = false;
  std::vector<double> shares_;
  nlohmann::ordered_json log_;
};

TEST_F(NeighboursStageTest, SearchesAsWidelyAsNearlyAllOfTheBestTake) {
  const auto learned = learn({});
  ASSERT_TRUE(learned);
  EXPECT_EQ(learned->graph.view().label_count, 600);
  EXPECT_EQ(learned->graph.most_links, 32);
  EXPECT_GE(said("recall").get<double>(), 0.97);
  EXPECT_EQ(said("ef"), learned->ef);
  EXPECT_EQ(said("labels"), 600);
  EXPECT_EQ(said("depth"), 100);
  EXPECT_THAT(shares_, ElementsAre(0, testing::Gt(0), testing::Gt(0.5)));
}

TEST_F(NeighboursStageTest, AWorseGraphIsSearchedMoreWidely) {
  Settings settings;
  settings.neighbours = 3;
  settings.ef_construction = 3;
  const auto learned = learn(settings);
  EXPECT_GT(learned->ef, learn({})->ef);
}

// A search keeps as many labels as are wanted all the same.
TEST_F(NeighboursStageTest, AGivenWidthStands) {
  Settings settings;
  settings.neighbours = 3;
  settings.ef_construction = 3;
  settings.ef = 100;
  EXPECT_EQ(learn(settings)->ef, 100);
  const double recall = said("recall");
  EXPECT_LT(recall, 0.9);
  settings.ef = 7;
  EXPECT_EQ(learn(settings)->ef, 7);
  EXPECT_EQ(said("recall"), recall);
  settings.ef = 500;
  EXPECT_EQ(learn(settings)->ef, 500);
  EXPECT_GT(said("recall"), recall);
}

TEST_F(NeighboursStageTest, WithoutHeldOutPointsThoseOfTrainingAreSearchedFor) {
  data_.held_out_features = {};
  EXPECT_GE(learn({})->ef, 100);
}

TEST_F(NeighboursStageTest, FewLabelsAreFoundWhole) {
  EXPECT_EQ(learn({}, 40)->ef, 100);
  EXPECT_EQ(said("depth"), 40);
  EXPECT_EQ(said("recall"), 1.0);
}

TEST_F(NeighboursStageTest, NothingIsKeptWhenTheRunIsToStop) {
  stop_ = true;
  EXPECT_FALSE(learn({}));
  EXPECT_TRUE(shares_.empty());
  EXPECT_TRUE(log_.is_null());
}

Settings resolved(Method method, int64_t labels, IndexChoice index = IndexChoice::kAuto) {
  Settings settings;
  settings.method = method;
  settings.index = index;
  resolve(settings, {.points = 1'000'000,
                     .labels = labels,
                     .labels_per_point = 5,
                     .features = 100'000,
                     .features_per_point = 30});
  return settings;
}

TEST(NeighbourSettings, ManyEmbeddedLabelsHaveAGraph) {
  EXPECT_EQ(resolved(Method::kGlas, 100'000).index, IndexChoice::kExact);
  EXPECT_EQ(resolved(Method::kGlas, 100'001).index, IndexChoice::kHnsw);
  EXPECT_EQ(resolved(Method::kOva, 1'000'000).index, IndexChoice::kExact);
  EXPECT_EQ(resolved(Method::kElias, 1'000'000).index, IndexChoice::kAuto);
  EXPECT_EQ(resolved(Method::kGlas, 200'000, IndexChoice::kExact).index, IndexChoice::kExact);
  EXPECT_EQ(resolved(Method::kOva, 1000, IndexChoice::kHnsw).index, IndexChoice::kHnsw);
}

TEST(NeighbourSettings, ALearnedIndexLeavesNoChoice) {
  for (const IndexChoice index : {IndexChoice::kExact, IndexChoice::kHnsw}) {
    EXPECT_THAT(
        [&] { resolved(Method::kElias, 1000, index); },
        ThrowsMessage<InputError>(HasSubstr("the method elias learns an index of its own")));
  }
}

TEST(NeighbourSettings, AGraphTakesMemory) {
  const DataSizes sizes{.points = 100,
                        .labels = 1'000'000,
                        .labels_per_point = 5,
                        .features = 1000,
                        .features_per_point = 30};
  Settings settings = resolved(Method::kGlas, sizes.labels);
  settings.width = 4;
  settings.ranker = RankerChoice::kOff;
  const auto parts = estimate_memory(settings, sizes, 1).parts;
  EXPECT_EQ(std::ranges::count(parts, "neighbours", &std::pair<std::string, uint64_t>::first), 1);
  settings.index = IndexChoice::kExact;
  EXPECT_LT(estimate_memory(settings, sizes, 1).total(), uint64_t{400'000'000});
}

}  // namespace
}  // namespace elias
