#include "ops/update/sgd.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradient_reference.h"
#include "tests/ops/row_updates.h"
#include "tests/ops/sgd_reference.h"

namespace elias {
namespace {

using testing::ThrowsMessage;

class SgdTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, SgdTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

const std::vector<SgdSettings> kSettings = {
    {},
    {.momentum = 0.9F},
    {.momentum = 0, .weight_decay = 0.1F},
    {.momentum = 0.99F, .weight_decay = 0.01F},
};

// Without momentum there is no velocity.
SgdState state_of(const SgdSettings& settings, Tensor& weights, Tensor& velocity) {
  return {weights, settings.momentum > 0 ? velocity.view() : TensorView()};
}

TEST(SgdReferenceTest, TwoStepsByHand) {
  const SgdSettings settings{.momentum = 0.5F, .weight_decay = 0.25F};
  auto state = reference::sgd_start<double>({1}, {0});
  reference::sgd(settings, 0.5, {2}, state);
  EXPECT_DOUBLE_EQ(state.w[0], 1 - 0.125 - 0.5 * 2);
  reference::sgd(settings, 0.5, {-3}, state);
  EXPECT_DOUBLE_EQ(state.u[0], -2);
  EXPECT_DOUBLE_EQ(state.w[0], -0.125 * 0.875 + 0.5 * 2);
}

TEST_P(SgdTest, DenseMatchesReference) {
  for (const SgdSettings& settings : kSettings) {
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{33}, Shape{40003}, Shape{3, 0},
                               Shape{7, 5}, Shape{2, 3, 257}}) {
      SCOPED_TRACE(testing::Message() << shape.text() << " momentum=" << settings.momentum);
      Tensor weights = random_floats(shape, 1);
      Tensor velocity = random_floats(shape, 2);
      const std::vector<double> zero(shape.elements());
      auto expected = reference::sgd_start(
          values_of<double>(weights), settings.momentum > 0 ? values_of<double>(velocity) : zero);
      for (const int step : {1, 2, 3}) {
        const Tensor g = random_floats(shape, 10 + step);
        reference::sgd(settings, 0.125, values_of<double>(g), expected);
        sgd(context(), settings, 0.125F, g, state_of(settings, weights, velocity));
      }
      expect_near(weights, expected.w, 1e-6);
      if (settings.momentum > 0) expect_near(velocity, expected.u, 1e-6);
    }
  }
}

TEST_P(SgdTest, WorksOnViews) {
  const Tensor before = random_floats({5, 48}, 1);
  const Tensor g = random_floats({5, 20}, 2);
  const auto columns = [](const Tensor& tensor, int64_t begin, int64_t end) {
    return copy_to(Device::kCpu, tensor.view().columns(begin, end));
  };
  const auto values = values_of<double>(columns(before, 5, 25));
  auto expected = reference::sgd_start(values, values);
  reference::sgd({.momentum = 0.5F}, 0.125, values_of<double>(g), expected);
  Tensor w = copy_to(Device::kCpu, before);
  Tensor u = copy_to(Device::kCpu, before);
  sgd(context(), {.momentum = 0.5F}, 0.125F, g, {w.view().columns(5, 25), u.view().columns(5, 25)});
  expect_near(columns(w, 5, 25), expected.w, 1e-6);
  expect_near(columns(u, 5, 25), expected.u, 1e-6);
  for (const Tensor* after : {&w, &u}) {  // what is beside the view is left alone
    expect_near(columns(*after, 0, 5), values_of<double>(columns(before, 0, 5)), 0);
    expect_near(columns(*after, 25, 48), values_of<double>(columns(before, 25, 48)), 0);
  }
}

TEST_P(SgdTest, CatchUpIsEveryMissedStep) {
  const int64_t D = 67;
  for (const SgdSettings& settings : kSettings) {
    for (const int64_t done : {0, 1, 10, 300}) {
      for (const int64_t missed : {0, 1, 2, 40, 5000}) {
        SCOPED_TRACE(testing::Message() << "done=" << done << " missed=" << missed
                                        << " momentum=" << settings.momentum);
        const RateHistory rates(warm_up_and_decay(done + missed, 0.1F));
        Tensor weights = random_floats({1, D}, 1);
        Tensor velocity = random_floats({1, D}, 2);
        auto expected = reference::sgd_start(
            values_of<double>(weights),
            settings.momentum > 0 ? values_of<double>(velocity) : std::vector<double>(D));
        for (int64_t step = done + 1; step <= rates.steps(); ++step) {
          reference::sgd(settings, double{rates.rate(step)}, std::vector<double>(D), expected);
        }
        Tensor done_steps = ids_of({static_cast<int32_t>(done)});
        sgd_catch_up(context(), settings, rates, all_rows(1), state_of(settings, weights, velocity),
                     done_steps);
        expect_arrived(weights, expected.w, expected.travel, 2.4e-7, 2.4e-7);
        if (settings.momentum > 0) expect_relative(velocity, expected.u, 2.4e-7);
        EXPECT_EQ(done_steps.span<int32_t>()[0], rates.steps());
      }
    }
  }
}

TEST_P(SgdTest, SparseTrainingEndsWhereTheDenseOneDoes) {
  const int64_t V = 60;
  const int64_t D = 19;
  for (const SgdSettings& settings : kSettings) {
    SCOPED_TRACE(testing::Message() << "momentum=" << settings.momentum);
    Tensor w = random_floats({V, D}, 1), u({V, D}, DType::kFloat32);
    Tensor dense_w = copy_to(Device::kCpu, w), dense_u({V, D}, DType::kFloat32);
    auto expected = reference::sgd_start(values_of<double>(w), std::vector<double>(V * D));
    Tensor done_steps({V}, DType::kInt32);
    RateHistory rates;
    for (const float rate : warm_up_and_decay(500, 0.1F)) {
      const Tensor source = random_floats({5, D}, rates.steps());
      const RowGradient gradient =
          gradient_of(touched_rows(V, rates.steps()), rates.steps(), source);
      sgd_catch_up(context(), settings, rates, gradient.rows, state_of(settings, w, u), done_steps);
      rates.add(rate);
      sgd_rows(context(), settings, rates, gradient, state_of(settings, w, u), done_steps);

      const auto g = reference::dense<float>(gradient, V);
      sgd(context(), settings, rate, ConstTensorView(g.data(), {V, D}),
          state_of(settings, dense_w, dense_u));
      reference::sgd(settings, double{rate}, reference::dense<double>(gradient, V), expected);
    }
    sgd_catch_up(context(), settings, rates, all_rows(V), state_of(settings, w, u), done_steps);
    expect_arrived(w, expected.w, expected.travel, 1e-6, 1e-6);
    // The dense form rounds every weight at every step.
    expect_arrived(dense_w, expected.w, expected.travel, 1e-6, 1e-5);
    if (settings.momentum > 0) expect_near(u, expected.u, 1e-6);
  }
}

TEST(SgdThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t V = 700;
  const int64_t D = 100;
  const SgdSettings settings{.momentum = 0.9F, .weight_decay = 0.01F};
  const Tensor source = random_floats({9, D}, 1);
  const Tensor g = random_floats({V, D}, 2);
  std::vector<int32_t> odd;
  for (int32_t row = 1; row < V; row += 2) odd.push_back(row);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.push_back(random_floats({V, D}, 3));
    results.push_back(random_floats({V, D}, 4));
    results.emplace_back(Shape{V}, DType::kInt32);
    const SgdState state{results[0], results[1]};
    sgd(context, settings, 0.1F, g, state);
    for (int32_t row = 0; row < V; ++row) results[2].span<int32_t>()[row] = row * 37 % 900;
    RateHistory rates(warm_up_and_decay(900, 0.1F));
    sgd_catch_up(context, settings, rates, all_rows(V), state, results[2]);
    rates.add(0.1F);
    sgd_rows(context, settings, rates, gradient_of(odd, 5, source), state, results[2]);
    return results;
  });
}

TEST(SgdErrorsTest, RefusesWhatDoesNotFit) {
  ThreadPool pool(1);
  const Context context(pool);
  Tensor w({4, 8}, DType::kFloat32);
  Tensor u({4, 8}, DType::kFloat32);
  const Tensor g({4, 8}, DType::kFloat32);
  const Tensor source({5, 8}, DType::kFloat32);
  Tensor done_steps = ids_of({2, 1, 2, 4});
  const RateHistory rates(std::vector<float>(3, 0.1F));
  EXPECT_THAT(
      [&] {
        sgd(context, {.momentum = 1}, 0.1F, g, {w, u});
      },
      ThrowsMessage<InputError>("sgd: momentum is 1, but must be in [0, 1)"));
  EXPECT_THAT(
      [&] {
        sgd(context, {.weight_decay = -1}, 0.1F, g, {w, {}});
      },
      ThrowsMessage<InputError>("sgd: weight decay is -1, but must be finite and not negative"));
  EXPECT_THAT(
      [&] {
        sgd(context, {}, -0.5F, g, {w, {}});
      },
      ThrowsMessage<InputError>("sgd: rate is -0.5, but must be finite and not negative"));
  EXPECT_THAT(
      [&] {
        sgd(context, {.momentum = 0.9F}, 0.1F, g, {w, {}});
      },
      ThrowsMessage<InputError>("sgd: velocity is missing"));
  EXPECT_THAT(
      [&] {
        sgd(context, {}, 0.1F, g, {w, u});
      },
      ThrowsMessage<InputError>("sgd: velocity is given, but momentum is 0"));
  EXPECT_THAT(
      [&] {
        sgd(context, {}, 0.1F, source, {w, {}});
      },
      ThrowsMessage<InputError>("sgd: gradient is [5, 8], but weights is [4, 8]"));
  EXPECT_THAT(
      [&] {
        sgd_catch_up(context, {}, rates, ids_of({3}), {w, {}}, done_steps);
      },
      ThrowsMessage<InputError>("sgd, catch-up: row 3 has done 4 steps, but there are 3"));
  EXPECT_THAT(
      [&] {
        sgd_rows(context, {}, rates, gradient_of({1}, 1, source), {w, {}}, done_steps);
      },
      ThrowsMessage<InputError>("sgd, rows: row 1 has done 1 steps, but must have done 2"));
}

}  // namespace
}  // namespace elias
