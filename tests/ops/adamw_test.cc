#include "ops/update/adamw.h"

#include <gmock/gmock.h>

#include "tests/ops/adamw_reference.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradient_reference.h"
#include "tests/ops/row_updates.h"

namespace elias {
namespace {

using testing::ThrowsMessage;

class AdamWTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, AdamWTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

// The usual ones; short memories; none of one or both moments; epsilon among the roots of v.
const std::vector<AdamWSettings> kSettings = {
    {},
    {.beta1 = 0.9F, .beta2 = 0.95F, .epsilon = 1e-6F, .weight_decay = 0},
    {.beta1 = 0.99F, .beta2 = 0.999F, .epsilon = 1e-3F, .weight_decay = 0.1F},
    {.beta1 = 0, .beta2 = 0.99F, .epsilon = 1e-8F, .weight_decay = 0.01F},
    {.beta1 = 0.5F, .beta2 = 0, .epsilon = 1.0F, .weight_decay = 0.01F},
    {.beta1 = 0, .beta2 = 0, .epsilon = 1e-8F, .weight_decay = 0},
};

// Weights and moments [V, D] as they may be in training, with roots of v over ten powers of ten.
struct State {
  State(Shape shape, Device device)
      : weights(copy_to(device, random_floats(shape, 1))), first(shape, DType::kFloat32) {
    const Tensor size = random_floats(shape, 2, -10, 0);
    Tensor second_here(shape, DType::kFloat32);
    const Tensor share = random_floats(shape, 3);
    for (int64_t i = 0; i < shape.elements(); ++i) {
      const double root = std::pow(10, double{size.span<float>()[i]});
      first.span<float>()[i] = static_cast<float>(root * double{share.span<float>()[i]});
      second_here.span<float>()[i] = static_cast<float>(root * root);
    }
    first = copy_to(device, first);
    second = copy_to(device, second_here);
  }

  operator AdamWState() { return {weights, first, second}; }

  Tensor weights, first, second;
};

TEST(AdamWReferenceTest, TwoStepsByHand) {
  const AdamWSettings settings{
      .beta1 = 0.5F, .beta2 = 0.5F, .epsilon = 1e-30F, .weight_decay = 0.5};
  auto state = reference::adamw_start<double>({1}, {0}, {0});
  reference::adamw(settings, 0.1, 1, {2}, state);
  EXPECT_DOUBLE_EQ(state.m[0], 1);
  EXPECT_DOUBLE_EQ(state.v[0], 2);
  EXPECT_NEAR(state.w[0], 0.95 - 0.1, 1e-15);  // m / (1 - 1/2) = 2, sqrt(v / (1 - 1/2)) = 2
  reference::adamw(settings, 0.1, 2, {0}, state);
  EXPECT_NEAR(state.w[0], 0.85 * 0.95 - 0.1 * (0.5 / 0.75) / std::sqrt(1 / 0.75), 1e-15);
  EXPECT_NEAR(state.travel[0], 1 - state.w[0], 1e-15);
}

TEST_P(AdamWTest, DenseMatchesReference) {
  for (const AdamWSettings& settings : kSettings) {
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{33}, Shape{40003}, Shape{3, 0},
                               Shape{7, 5}, Shape{2, 3, 257}}) {
      SCOPED_TRACE(testing::Message() << shape.text() << " beta2=" << settings.beta2);
      const Tensor weights = random_floats(shape, 1);
      const std::vector<double> zero(shape.elements());
      auto expected = reference::adamw_start(values_of<double>(weights), zero, zero);
      Tensor w = here(weights);
      Tensor m = zeros(shape);
      Tensor v = zeros(shape);
      for (const int step : {1, 2, 3, 4}) {
        // The last one is zero: momentum alone.
        const Tensor g = random_floats(shape, 10 + step, -1, step == 4 ? -1 : 1);
        const Tensor none(shape, DType::kFloat32);
        const ConstTensorView gradient = step == 4 ? none.view() : g.view();
        reference::adamw(settings, 0.01, step, values_of<double>(gradient), expected);
        adamw(context(), settings, 0.01F, step, here(gradient), {w, m, v});
      }
      expect_arrived(back(w), expected.w, expected.travel, 2e-6, 4e-7);
      expect_near(back(m), expected.m, 1e-6);
      expect_near(back(v), expected.v, 1e-6);
    }
  }
}

TEST_P(AdamWTest, WorksOnViews) {
  const Tensor wide = random_floats({5, 48}, 1, 0.5, 1);
  const Tensor g = random_floats({5, 20}, 2);
  const auto part = [](const Tensor& tensor) {
    return copy_to(Device::kCpu, tensor.view().columns(5, 25));
  };
  const auto values = values_of<double>(part(wide));
  auto expected = reference::adamw_start(values, values, values);
  reference::adamw({}, 0.01, 7, values_of<double>(g), expected);
  Tensor w = here(wide);
  Tensor m = here(wide);
  Tensor v = here(wide);
  adamw(context(), {}, 0.01F, 7, here(g),
        {w.view().columns(5, 25), m.view().columns(5, 25), v.view().columns(5, 25)});
  for (const Tensor* tensor : {&w, &m, &v}) {
    const Tensor result = back(*tensor);
    const auto& inside = tensor == &w ? expected.w : tensor == &m ? expected.m : expected.v;
    expect_near(part(result), inside, 1e-6);
    // What is beside the view is left alone.
    expect_near(copy_to(Device::kCpu, result.view().columns(0, 5)),
                values_of<double>(copy_to(Device::kCpu, wide.view().columns(0, 5))), 0);
    expect_near(copy_to(Device::kCpu, result.view().columns(25, 48)),
                values_of<double>(copy_to(Device::kCpu, wide.view().columns(25, 48))), 0);
  }
}

// The bound of row_catch_up.h: one absence, against every missed step in double.
TEST_P(AdamWTest, CatchUpKeepsItsBound) {
  const int64_t D = 67;
  for (const AdamWSettings& settings : kSettings) {
    for (const int64_t done : {0, 1, 2, 10, 300, 3000}) {
      for (const int64_t missed : {0, 1, 2, 7, 40, 300, 5000}) {
        SCOPED_TRACE(testing::Message() << "done=" << done << " missed=" << missed << " beta1="
                                        << settings.beta1 << " beta2=" << settings.beta2);
        const RateHistory rates(warm_up_and_decay(done + missed, 0.01F));
        State state({1, D}, device());
        auto expected = reference::adamw_start(values_of<double>(back(state.weights)),
                                               values_of<double>(back(state.first)),
                                               values_of<double>(back(state.second)));
        for (int64_t step = done + 1; step <= rates.steps(); ++step) {
          reference::adamw(settings, double{rates.rate(step)}, step, std::vector<double>(D),
                           expected);
        }
        Tensor done_steps = here(ids_of({static_cast<int32_t>(done)}));
        adamw_catch_up(context(), settings, rates, here(all_rows(1)), state, done_steps);
        expect_arrived(back(state.weights), expected.w, expected.travel, 1e-6, 2.4e-7);
        expect_relative(back(state.first), expected.m, 2.4e-7);
        expect_relative(back(state.second), expected.v, 2.4e-7);
        EXPECT_EQ(back(done_steps).span<int32_t>()[0], rates.steps());
      }
    }
  }
}

// A whole training with rows that are touched now and then: the sparse form, the dense form and the
// dense form in double end at the same place.
TEST_P(AdamWTest, SparseTrainingEndsWhereTheDenseOneDoes) {
  const int64_t V = 60;
  const int64_t D = 19;
  const int64_t steps = 700;
  for (const AdamWSettings& settings : kSettings) {
    SCOPED_TRACE(testing::Message() << "beta1=" << settings.beta1 << " beta2=" << settings.beta2);
    const Tensor start = random_floats({V, D}, 1);
    const std::vector<double> zero(V * D);
    auto expected = reference::adamw_start(values_of<double>(start), zero, zero);
    Tensor w = here(start), m = zeros({V, D}), v = zeros({V, D});
    Tensor dense_w = here(start), dense_m = zeros({V, D}), dense_v = zeros({V, D});
    Tensor done_steps = zeros({V}, DType::kInt32);
    std::vector<int64_t> touched(V);
    RateHistory rates;
    for (const float rate : warm_up_and_decay(steps, 0.01F)) {
      const Tensor source = random_floats({5, D}, rates.steps());
      const auto rows = touched_rows(V, rates.steps());
      for (const int32_t row : rows) ++touched[row];
      const RowGradient gradient = gradient_of(rows, rates.steps(), source);
      adamw_catch_up(context(), settings, rates, here(gradient.rows), {w, m, v}, done_steps);
      rates.add(rate);
      const Tensor source_here = here(source);
      adamw_rows(context(), settings, rates, moved_to(device(), gradient, source_here), {w, m, v},
                 done_steps);

      const auto g = reference::dense<float>(gradient, V);
      adamw(context(), settings, rate, rates.steps(), here(ConstTensorView(g.data(), {V, D})),
            {dense_w, dense_m, dense_v});
      reference::adamw(settings, double{rate}, rates.steps(), reference::dense<double>(gradient, V),
                       expected);
    }
    adamw_catch_up(context(), settings, rates, here(all_rows(V)), {w, m, v}, done_steps);
    // A weight is rounded whenever it is written, up or down, which adds up as a random walk does:
    // in the sparse form as often as its row was touched, in the dense form at every step.
    const auto rounding = [](int64_t times) {
      return 2.4e-7 * std::sqrt(1 + static_cast<double>(times));
    };
    const Tensor w_back = back(w);
    for (int64_t row = 0; row < V; ++row) {
      expect_arrived(w_back.view().slice(row, row + 1), std::span(expected.w).subspan(row * D, D),
                     std::span(expected.travel).subspan(row * D, D), 1e-6, rounding(touched[row]));
    }
    expect_arrived(back(dense_w), expected.w, expected.travel, 1e-6, rounding(steps));
    expect_near(back(m), expected.m, 1e-6);
    expect_near(back(v), expected.v, 1e-6);
  }
}

TEST_P(AdamWTest, RowsInAnyOrderAndOthersLeftAlone) {
  const int64_t D = 5;
  State state({4, D}, device());
  const Tensor before = back(state.weights);
  Tensor done_steps = here(ids_of({0, 3, 1, 2}));
  const RateHistory rates(std::vector<float>(3, 0.5F));
  adamw_catch_up(context(), {}, rates, here(ids_of({2, 0, 1})), state, done_steps);
  EXPECT_THAT(back(done_steps).span<int32_t>(), testing::ElementsAre(3, 3, 3, 2));
  const Tensor after = back(state.weights);
  for (const int64_t row : {1, 3}) {  // row 1 had done all
    expect_near(after.view().slice(row, row + 1),
                values_of<double>(before.view().slice(row, row + 1)), 0);
  }
  EXPECT_NE(after.span<float>()[0], before.span<float>()[0]);
  EXPECT_NE(after.span<float>()[2 * D], before.span<float>()[2 * D]);
}

TEST_P(AdamWTest, NothingToDoIsFine) {
  const Tensor source = random_floats({5, 8}, 1);
  const Tensor source_here = here(source);
  Tensor w = here(random_floats({4, 8}, 2));
  Tensor m = zeros({4, 8});
  Tensor v = zeros({4, 8});
  Tensor done_steps = zeros({4}, DType::kInt32);
  RateHistory rates;
  adamw_catch_up(context(), {}, rates, here(all_rows(4)), {w, m, v}, done_steps);  // no steps yet
  rates.add(0.1F);
  const RowGradient none = moved_to(device(), gradient_of({}, 1, source), source_here);
  adamw_rows(context(), {}, rates, none, {w, m, v}, done_steps);
  adamw_catch_up(context(), {}, rates, none.rows, {w, m, v}, done_steps);
  expect_near(back(w), values_of<double>(random_floats({4, 8}, 2)), 0);
  EXPECT_THAT(back(done_steps).span<int32_t>(), testing::Each(0));
}

// Momentum that decays among the denormal floats never gets to zero by itself, and is slow.
TEST(AdamWDenormalsTest, MomentsGetToZero) {
  for (const Isa isa : supported_isas()) {
    ThreadPool pool(1);
    const Tensor none({33}, DType::kFloat32);
    Tensor w = random_floats({33}, 1);
    Tensor m = random_floats({33}, 2, 1e-37F, 2e-37F);
    Tensor v = random_floats({33}, 3, 1e-37F, 2e-37F);
    for (const int step : {1, 2, 3, 4, 5, 6}) {
      adamw(Context(pool, isa), {.beta1 = 0.5F, .beta2 = 0.5F}, 0.1F, step, none, {w, m, v});
    }
    expect_near(m, std::vector<double>(33), 0);
    expect_near(v, std::vector<double>(33), 0);
  }
}

TEST(AdamWThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t V = 700;
  const int64_t D = 100;
  const Tensor source = random_floats({9, D}, 1);
  const Tensor g = random_floats({V, D}, 2);
  std::vector<int32_t> odd;
  for (int32_t row = 1; row < V; row += 2) odd.push_back(row);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    State state({V, D}, Device::kCpu);
    adamw(context, {}, 0.01F, 5, g, state);
    Tensor done_steps({V}, DType::kInt32);
    for (int32_t row = 0; row < V; ++row) done_steps.span<int32_t>()[row] = row * 37 % 9000;
    RateHistory rates(warm_up_and_decay(9000, 0.01F));
    adamw_catch_up(context, {}, rates, all_rows(V), state, done_steps);
    rates.add(0.01F);
    adamw_rows(context, {}, rates, gradient_of(odd, 3, source), state, done_steps);
    std::vector<Tensor> results;
    results.push_back(std::move(state.weights));
    results.push_back(std::move(state.first));
    results.push_back(std::move(state.second));
    results.push_back(std::move(done_steps));
    return results;
  });
}

class AdamWErrorsTest : public testing::Test {
 protected:
  void dense(const AdamWSettings& settings, float rate, int64_t step) {
    adamw(context_, settings, rate, step, gradient_, {weights_, first_, second_});
  }
  void catch_up(const std::vector<int32_t>& rows) {
    adamw_catch_up(context_, {}, rates_, ids_of(rows), {weights_, first_, second_}, done_steps_);
  }
  void rows(const RowGradient& gradient) {
    adamw_rows(context_, {}, rates_, gradient, {weights_, first_, second_}, done_steps_);
  }

  ThreadPool pool_{1};
  Context context_{pool_};
  Tensor weights_{{4, 8}, DType::kFloat32};
  Tensor first_{{4, 8}, DType::kFloat32};
  Tensor second_{{4, 8}, DType::kFloat32};
  Tensor gradient_{{4, 8}, DType::kFloat32};
  Tensor done_steps_ = ids_of({2, 1, 2, 4});
  RateHistory rates_{std::vector<float>(3, 0.1F)};
};

TEST_F(AdamWErrorsTest, RefusesSettingsOutOfRange) {
  EXPECT_THAT([&] { dense({.beta1 = 1}, 0.1F, 1); },
              ThrowsMessage<InputError>("adamw: beta1 is 1, but must be in [0, 1)"));
  EXPECT_THAT([&] { dense({.beta2 = -0.5F}, 0.1F, 1); },
              ThrowsMessage<InputError>("adamw: beta2 is -0.5, but must be in [0, 1)"));
  EXPECT_THAT(
      [&] { dense({.epsilon = 0}, 0.1F, 1); },
      ThrowsMessage<InputError>("adamw: epsilon is 0, but must be finite and at least 1e-30"));
  EXPECT_THAT(
      [&] { dense({.weight_decay = -1}, 0.1F, 1); },
      ThrowsMessage<InputError>("adamw: weight decay is -1, but must be finite and not negative"));
  EXPECT_THAT(
      [&] { dense({}, -0.5F, 1); },
      ThrowsMessage<InputError>("adamw: rate is -0.5, but must be finite and not negative"));
  EXPECT_THAT([&] { dense({}, 0.1F, 0); },
              ThrowsMessage<InputError>("adamw: step is 0, but must be at least 1"));
}

TEST_F(AdamWErrorsTest, RefusesWrongShapes) {
  gradient_ = Tensor({4, 7}, DType::kFloat32);
  EXPECT_THAT([&] { dense({}, 0.1F, 1); },
              ThrowsMessage<InputError>("adamw: gradient is [4, 7], but weights is [4, 8]"));
  done_steps_ = ids_of({0, 0, 0});
  EXPECT_THAT([&] { catch_up({0}); },
              ThrowsMessage<InputError>("adamw, catch-up: done steps is [3], but must be [4]"));
  second_ = Tensor({3, 8}, DType::kFloat32);
  EXPECT_THAT(
      [&] { catch_up({0}); },
      ThrowsMessage<InputError>("adamw, catch-up: second moment is [3, 8], but weights is [4, 8]"));
}

TEST_F(AdamWErrorsTest, RefusesRowsThatCannotBeCaughtUp) {
  EXPECT_THAT(
      [&] {
        catch_up({0, 4});
      },
      ThrowsMessage<InputError>("adamw, catch-up: rows holds 4 at row 0, column 1, but "
                                "must be in [0, 4)"));
  EXPECT_THAT(
      [&] {
        catch_up({2, 0, 2});
      },
      ThrowsMessage<InputError>("adamw, catch-up: rows hold 2 twice"));
  EXPECT_THAT(
      [&] {
        catch_up({1, 3});
      },
      ThrowsMessage<InputError>("adamw, catch-up: row 3 has done 4 steps, but there are 3"));
}

TEST_F(AdamWErrorsTest, RefusesGradientsOfRowsThatAreNotThere) {
  const Tensor source = random_floats({5, 8}, 1);
  EXPECT_THAT(
      [&] {
        rows(gradient_of({0, 1}, 1, source));
      },
      ThrowsMessage<InputError>("adamw, rows: row 1 has done 1 steps, but must have done 2"));
  EXPECT_THAT(
      [&] {
        rows(gradient_of({2, 0}, 1, source));
      },
      ThrowsMessage<InputError>("adamw, rows: rows must rise, but 0 follows 2"));
  EXPECT_THAT(
      [&] {
        rows(gradient_of({0, 9}, 1, source));
      },
      ThrowsMessage<InputError>("adamw, rows: rows holds 9 at row 0, column 1, but must be "
                                "in [0, 4)"));
  const Tensor narrow = random_floats({5, 7}, 1);
  EXPECT_THAT(
      [&] {
        rows(gradient_of({0, 2}, 1, narrow));
      },
      ThrowsMessage<InputError>("adamw, rows: source is [5, 7], but must be [any, 8]"));
  rates_ = RateHistory();
  EXPECT_THAT([&] { rows(gradient_of({0}, 1, source)); },
              ThrowsMessage<InputError>("adamw, rows: the history of rates has no step"));
}

}  // namespace
}  // namespace elias
