#include "model/label_portrait.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/errors.h"
#include "tests/model/tiny_model.h"

namespace elias {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::FloatNear;
using testing::IsEmpty;
using testing::SizeIs;

using Scored = LabelPortrait::Scored;

auto is(uint32_t label, float score) {
  return AllOf(Field(&Scored::label, label), Field(&Scored::score, FloatNear(score, 1e-6F)));
}

// Five labels in two dimensions, of which the last has no direction; three clusters.
class LabelPortraitTest : public testing::Test {
 protected:
  LabelPortraitTest() : model_({.V = 3, .D = 2, .C = 3, .L = 5}) {
    const std::vector<float> vectors{1, 0, 3, 4, 2, 0, -1, 0, 0, 0};
    std::copy(vectors.begin(), vectors.end(), model_.label_weights.span<float>().begin());
    model_.offsets = {0, 3, 5, 9};
    model_.labels = {0, 1, 3, 0, 2, 0, 1, 2, 3};
    model_.scores = {0.25F, 0.5F, 0.5F, 0.75F, 1, 0.25F, 0, 0.125F, 1};
  }

  TinyModel model_;
  ThreadPool pool_{2};
};

TEST_F(LabelPortraitTest, ClustersByScoreWithTheirOtherLabels) {
  const LabelPortrait portrait = portray(model_.views(), 0, 10, pool_);
  EXPECT_EQ(portrait.edges, 3);
  ASSERT_THAT(portrait.clusters, SizeIs(3));
  EXPECT_EQ(portrait.clusters[0].cluster, 1);
  EXPECT_EQ(portrait.clusters[0].score, 0.75F);
  EXPECT_EQ(portrait.clusters[0].edges, 2);
  EXPECT_THAT(portrait.clusters[0].others, ElementsAre(is(2, 1)));
  // Of equal scores the lower cluster, the lower label.
  EXPECT_EQ(portrait.clusters[1].cluster, 0);
  EXPECT_THAT(portrait.clusters[1].others, ElementsAre(is(1, 0.5F), is(3, 0.5F)));
  EXPECT_EQ(portrait.clusters[2].cluster, 2);
  EXPECT_THAT(portrait.clusters[2].others, ElementsAre(is(3, 1), is(2, 0.125F), is(1, 0)));
}

TEST_F(LabelPortraitTest, NearestByCosine) {
  EXPECT_THAT(portray(model_.views(), 0, 10, pool_).nearest,
              ElementsAre(is(2, 1), is(1, 0.6F), is(4, 0), is(3, -1)));
  EXPECT_THAT(portray(model_.views(), 1, 10, pool_).nearest,
              ElementsAre(is(0, 0.6F), is(2, 0.6F), is(4, 0), is(3, -0.6F)));
  EXPECT_THAT(portray(model_.views(), 4, 2, pool_).nearest, ElementsAre(is(0, 0), is(1, 0)));
}

TEST_F(LabelPortraitTest, ListsAreCut) {
  const LabelPortrait portrait = portray(model_.views(), 0, 1, pool_);
  EXPECT_EQ(portrait.edges, 3);
  ASSERT_THAT(portrait.clusters, SizeIs(1));
  EXPECT_EQ(portrait.clusters[0].cluster, 1);
  EXPECT_THAT(portrait.nearest, ElementsAre(is(2, 1)));
}

TEST_F(LabelPortraitTest, OfALabelInNoCluster) {
  const LabelPortrait portrait = portray(model_.views(), 4, 10, pool_);
  EXPECT_EQ(portrait.edges, 0);
  EXPECT_THAT(portrait.clusters, IsEmpty());
  EXPECT_THROW(portray(model_.views(), 5, 10, pool_), InternalError);
}

TEST(LabelPortrait, WithoutClustersAndInBFloat16) {
  const TinyModel model({.C = 0, .halves = true});
  ThreadPool pool(1);
  const LabelPortrait portrait = portray(model.views(), 7, 100, pool);
  EXPECT_THAT(portrait.clusters, IsEmpty());
  ASSERT_THAT(portrait.nearest, SizeIs(39));
  const auto weights = model.label_weights.span<float>();
  const auto row = [&](uint32_t label) { return weights.subspan(label * 12, 12); };
  double product = 0, own = 0, other = 0;
  for (size_t d = 0; d < 12; ++d) {
    const double a = row(7)[d], b = row(portrait.nearest[0].label)[d];
    product += a * b;
    own += a * a;
    other += b * b;
  }
  EXPECT_NEAR(portrait.nearest[0].score, product / std::sqrt(own * other), 1e-6);
}

TEST(LabelPortraitThreads, SameBitsAtAnyNumberOfThem) {
  const TinyModel model({.L = 5000});
  ThreadPool one(1);
  const LabelPortrait expected = portray(model.views(), 1234, 5000, one);
  for (const int threads : {2, 3, 7}) {
    ThreadPool pool(threads);
    const LabelPortrait actual = portray(model.views(), 1234, 5000, pool);
    ASSERT_EQ(actual.nearest.size(), expected.nearest.size());
    for (size_t i = 0; i < actual.nearest.size(); ++i) {
      ASSERT_EQ(actual.nearest[i].label, expected.nearest[i].label) << threads << " threads";
      ASSERT_EQ(actual.nearest[i].score, expected.nearest[i].score) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace elias
