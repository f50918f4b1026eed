#include "train/step.h"

#include <gmock/gmock.h>

#include "tests/train/step_world.h"

namespace elias {
namespace {

class StepTest : public testing::TestWithParam<Case> {
 protected:
  ThreadPool pool_{2};
  Context context_{pool_};
};
INSTANTIATE_TEST_SUITE_P(Each, StepTest, testing::ValuesIn(cases()),
                         [](const auto& own) { return own.param.name; });

TEST_P(StepTest, LossAndGradientsAreThoseOfTheEquations) {
  const Case& own = GetParam();
  World world(context_, own, settings_of(own));
  EXPECT_EQ(world.network().labels_by_blocks(), own.name.find("ByRows") == std::string::npos);
  auto weights = world.weights();
  const auto input = world.input(kPosition.stream);
  const reference::Step expected(input, weights);
  const auto selection = expected.select(world.lists(expected.cluster_logits(), kPosition.stream));
  const auto losses = expected.losses(selection);

  const StepSums sums = world.run(kPosition);
  const auto N = static_cast<double>(world.points());
  EXPECT_EQ(sums.points, std::ssize(input.labels.points));
  EXPECT_NEAR(sums.on_p / N, losses.on_p, 1e-5 * losses.on_p);
  EXPECT_NEAR(sums.on_z / N, losses.on_z, 1e-5 * losses.on_z);
  EXPECT_NEAR(sums.shortlist / N, losses.shortlist, 1e-5 * losses.shortlist);
  EXPECT_NEAR(sums.regulariser / N, losses.regulariser, 1e-5 * losses.regulariser);
  EXPECT_EQ(losses.regulariser > 1e-4, own.regulariser != Regulariser::kNone);
  EXPECT_NEAR(sums.loss(), losses.sum(), 1e-5 * losses.sum());
  if (own.index != Index::kNone) {
    EXPECT_EQ(sums.missed, selection.missed);
    EXPECT_EQ(sums.positives, std::ssize(selection.positives) + selection.missed);
  }

  const auto gradients = world.gradients();
  EXPECT_EQ(gradients.size(), groups_of(weights).size());
  for (const auto& [name, group] : groups_of(weights)) {
    SCOPED_TRACE(name);
    if (name == "label_log_length" && own.embeddings == EmbeddingLoss::kMargin) {
      EXPECT_THAT(gradients.at(name), testing::ElementsAre(0));  // it stays 1
      continue;
    }
    const auto derivative = differences(input, weights, selection, *group);
    const auto& gradient = gradients.at(name);
    ASSERT_EQ(gradient.size(), derivative.size());
    const double tolerance = 1e-4 * largest(derivative) + 1e-9;
    for (size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_NEAR(gradient[i], derivative[i], tolerance) << "at element " << i;
    }
    const bool clamped =
        (name == "edges" && own.beta > 1e6F) || (name.starts_with("cluster") && own.alpha > 1e6F);
    // Drawn labels are told apart by directions alone.
    const bool unused =
        name == "label_bias" && own.embeddings.value_or(EmbeddingLoss::kOva) != EmbeddingLoss::kOva;
    EXPECT_EQ(largest(derivative) > 1e-6, !clamped && !unused);
  }
}

// That the cases above are what they are called.
TEST_P(StepTest, CasesReachWhatTheyAreFor) {
  const Case& own = GetParam();
  if (own.index == Index::kNone) return;
  World world(context_, own, settings_of(own));
  const auto weights = world.weights();
  const auto input = world.input(kPosition.stream);
  const reference::Step step(input, weights);
  const auto lists = world.lists(step.cluster_logits(), kPosition.stream);
  const auto selection = step.select(lists);
  size_t clusters = 0, edges = 0, listed_positives = 0, empty_points = 0;
  for (const auto& path : selection.shortlisted) {
    clusters += step.cluster_score(path) == 1 ? 1 : 0;
    edges += step.edge_score(path) == 1 ? 1 : 0;
    listed_positives += reference::target_of(input.labels.row(path.point), path.label) > 0 ? 1 : 0;
  }
  for (size_t i = 0; i < world.points(); ++i) {
    empty_points += input.labels.row(i).size() == 0 ? 1 : 0;
  }
  const auto expect_clamped = [&](size_t clamped, float scale) {
    const size_t all = selection.shortlisted.size();
    EXPECT_EQ(clamped > 0, scale > 1) << clamped << " of " << all;
    if (own.index == Index::kPartition) return;  // one cluster may fill a whole shortlist
    EXPECT_EQ(clamped == all, scale > 1e6F) << clamped << " of " << all;
  };
  expect_clamped(clusters, own.alpha);
  if (own.index == Index::kGraph) expect_clamped(edges, own.beta);
  EXPECT_GT(listed_positives, 0);
  EXPECT_GT(empty_points, 0);
  if (own.shortlist < own.labels) {
    EXPECT_LT(listed_positives, selection.positives.size());  // some are found and not listed
  }
  EXPECT_EQ(selection.missed > 0, own.index == Index::kGraph);
  size_t equal = 0, alike = 0;  // labels of one score, paths of one score
  for (size_t j = 1; j < selection.shortlisted.size(); ++j) {
    const auto& path = selection.shortlisted[j];
    const auto& before = selection.shortlisted[j - 1];
    equal += before.point == path.point && step.score(before) == step.score(path) ? 1 : 0;
  }
  for (const auto& list : lists) {
    alike += std::ranges::count(list, 2) == 1 && std::ranges::count(list, 3) == 1 ? 1 : 0;
  }
  if (own.ties) {
    EXPECT_GT(equal, 0);
    EXPECT_GT(alike, 0);
  }
}

// AdamW's first step moves a weight by the rate, whatever its gradient.
TEST_P(StepTest, EveryGroupGoesByItsOwnRate) {
  World world(context_, GetParam(), settings_of(GetParam()));
  auto before = world.weights();
  world.run(kPosition);
  auto after = world.weights();
  const auto groups = groups_of(before);
  const auto stepped = groups_of(after);
  const auto gradients = world.gradients();
  for (size_t g = 0; g < groups.size(); ++g) {
    const std::string& name = groups[g].first;
    SCOPED_TRACE(name);
    const double rate = name.starts_with("cluster") ? 0.02
                        : name.starts_with("label") ? 0.03
                        : name == "edges"           ? 0.04
                                                    : 0.01;
    const auto& gradient = gradients.at(name);
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double moved = (*stepped[g].second)[i] - (*groups[g].second)[i];
      if (gradient[i] == 0) {
        EXPECT_EQ(moved, 0);
      } else if (std::abs(gradient[i]) > 1e-5) {
        EXPECT_NEAR(moved, gradient[i] > 0 ? -rate : rate, 2e-3 * rate);
      }
    }
  }
}

}  // namespace
}  // namespace elias
