// What holds of steps beside their equations: accumulation, schedules, rounding, threads.
#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/train/step_world.h"

namespace elias {
namespace {

TEST(StepAccumulationTest, HeadsStepWithTheSumOfTheirBatches) {
  ThreadPool pool(1);
  const Context context(pool);
  const Case own{.name = "", .extra_clusters = 0};  // nothing random: all batches are alike
  World once(context, own, settings_of(own));
  World thrice(context, own, settings_of(own));
  for (World* world : {&once, &thrice}) {
    world->network().begin_stage({.encoder = 0, .clusters = 0.1F, .labels = 0.1F, .edges = 0.1F});
  }
  once.run(kPosition);
  const auto single = once.gradients();
  thrice.set_accumulation(3);
  for (int64_t step = 1; step <= 3; ++step) {
    thrice.run({.step = step, .steps = 3, .stream = kPosition.stream});
    const auto sum = thrice.gradients();
    for (const char* name :
         {"cluster_weights", "cluster_bias", "edges", "label_weights", "label_bias"}) {
      SCOPED_TRACE(name);
      for (size_t i = 0; i < sum.at(name).size(); ++i) {
        ASSERT_NEAR(sum.at(name)[i], step < 3 ? 0 : 3 * single.at(name)[i],
                    1e-5 * largest(single.at(name)));
      }
    }
  }
}

TEST(StepAccumulationTest, NothingIsLeftForTheNextStage) {
  ThreadPool pool(1);
  const Context context(pool);
  const Case own{.name = "", .extra_clusters = 0};
  World world(context, own, settings_of(own));
  world.set_accumulation(3);
  for (int64_t step = 1; step <= 4; ++step) {
    world.run({.step = step, .steps = 4, .stream = kPosition.stream});
    for (Parameter* parameter : {&world.network().label_weights(), &world.network().edges()}) {
      const auto left = parameter->gradient().span<float>();
      EXPECT_EQ(std::ranges::all_of(left, [](float value) { return value == 0; }), step >= 3)
          << parameter->name() << " after step " << step;
    }
  }
}

// The rate of four batches a step, taken in each of them, is halved.
TEST(StepAccumulationTest, RowsOfLabelsStepAtOnceAtTheRateOverItsRoot) {
  ThreadPool pool(1);
  const Context context(pool);
  const Case& own = *std::ranges::find(cases(), "GraphByRows", &Case::name);
  const auto moves_with = [&](int64_t accumulation) {
    World world(context, own, settings_of(own));
    EXPECT_FALSE(world.network().labels_by_blocks());
    world.set_accumulation(accumulation);
    std::vector<double> moves = world.weights().label_weights;
    world.run({.step = 1, .steps = 8, .stream = kPosition.stream});
    const std::vector<double> after = world.weights().label_weights;
    for (size_t i = 0; i < moves.size(); ++i) moves[i] = after[i] - moves[i];
    return moves;
  };
  const std::vector<double> once = moves_with(1), fourth = moves_with(4);
  ASSERT_GT(largest(once), 0);
  for (size_t i = 0; i < once.size(); ++i) {
    ASSERT_NEAR(fourth[i], once[i] / 2, 1e-3 * largest(once));
  }
}

// A stage of four steps, or two of two: the same if the schedule is one.
TEST(StepScheduleTest, OneScheduleGoesOnOverStages) {
  ThreadPool pool(1);
  const Context context(pool);
  const Case& own = *std::ranges::find(cases(), "OneVsAll", &Case::name);
  for (const Schedule schedule : {Schedule::kOne, Schedule::kStages}) {
    Settings settings = settings_of(own);
    settings.schedule = schedule;
    const auto weights_after = [&](int64_t stages) {
      World world(context, own, settings);
      const int64_t steps = 4 / stages;
      for (int64_t i = 0; i < 4; ++i) {
        if (i % steps == 0) world.network().begin_stage({.encoder = 0.01F, .labels = 0.03F});
        world.run({.step = i % steps + 1,
                   .steps = steps,
                   .steps_before = 4 + i / steps * steps,
                   .run_steps = 8,
                   .stream = static_cast<uint64_t>(100 + i)});
      }
      return world.weights();
    };
    auto whole = weights_after(1);
    auto in_two = weights_after(2);
    const auto groups = groups_of(whole);
    for (size_t g = 0; g < groups.size(); ++g) {
      EXPECT_EQ(*groups[g].second == *groups_of(in_two)[g].second, schedule == Schedule::kOne)
          << groups[g].first;
    }
  }
}

// Epochs before the index have the scale of those with it, a mean over the places of a shortlist:
// the moments that are kept from one to the other fit both.
TEST(StepScaleTest, BeforeAnIndexLossesAreMeansOverAShortlist) {
  ThreadPool pool(1);
  const Context context(pool);
  const Case& own = *std::ranges::find(cases(), "OneVsAll", &Case::name);
  Settings settings = settings_of(own);
  const double over_labels = World(context, own, settings).run(kPosition).loss();
  settings.method = Method::kElias;
  settings.logit_loss = LogitLoss::kAll;
  const double over_places = World(context, own, settings).run(kPosition).loss();
  const double ratio = static_cast<double>(own.labels) / static_cast<double>(own.shortlist);
  ASSERT_GT(ratio, 2);
  EXPECT_NEAR(over_places, ratio * over_labels, 1e-2 * over_places);
}

TEST(StepRoundingTest, RoundedProductsStayClose) {
  ThreadPool pool(1);
  const Context context(pool);
  for (const int64_t labels : {40, 400}) {  // by blocks, by rows
    const Case own{.name = "", .alpha = 0.4F, .beta = 0.4F, .labels = labels, .shortlist = 30};
    Settings settings = settings_of(own);
    World exact(context, own, settings);
    settings.bf16 = true;
    World rounded(context, own, settings);
    EXPECT_EQ(exact.network().labels_by_blocks(), labels == 40);
    const double loss = exact.run(kPosition).loss();
    const double rounded_loss = rounded.run(kPosition).loss();
    EXPECT_NEAR(rounded_loss, loss, 2e-2 * loss);
    EXPECT_NE(rounded_loss, loss);
  }
}

TEST(StepThreadsTest, SameBitsAtAnyThreadCount) {
  for (const char* name : {"GraphWithDropout", "GraphByRowsAsPublished", "GraphWithAllLabels",
                           "PartitionByRows", "OneVsAllWithDropout"}) {
    SCOPED_TRACE(name);
    const Case& own = *std::ranges::find(cases(), std::string(name), &Case::name);
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      Settings settings = settings_of(own);
      settings.bf16 = true;
      World world(context, own, settings);
      for (int64_t step = 1; step <= 5; ++step) {
        world.run({.step = step, .steps = 5, .stream = static_cast<uint64_t>(100 + step)});
      }
      auto weights = world.weights();
      std::vector<Tensor> all;
      for (const auto& group : groups_of(weights)) {
        const auto* values = group.second;
        all.emplace_back(Shape{std::ssize(*values)}, DType::kFloat32);
        std::ranges::transform(*values, all.back().span<float>().begin(),
                               [](double value) { return static_cast<float>(value); });
      }
      return all;
    });
  }
}

}  // namespace
}  // namespace elias
