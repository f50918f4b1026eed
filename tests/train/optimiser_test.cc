#include "train/optimiser.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/ops/adamw_reference.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradient_reference.h"
#include "tests/ops/row_updates.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int64_t V = 20;
constexpr int64_t D = 7;
constexpr int64_t kSteps = 60;
constexpr float kPeak = 0.02F;

Parameter make_parameter(bool rows, float decay = 0.1F) {
  Parameter parameter({V, D}, {.name = "table", .rate = kPeak, .decay = decay, .rows = rows});
  copy(random_floats({V, D}, 1), parameter.weights());
  return parameter;
}

const Tensor& source() {
  static const Tensor kSource = random_floats({9, D}, 2);
  return kSource;
}

RowGradient gradient_of_step(int64_t step) {
  return gradient_of(touched_rows(V, step), 100 + step, source());
}

float rate_of(int64_t step) { return scheduled_rate(kPeak, 0.1F, step, kSteps); }

void step_rows(const Context& context, int64_t step, Parameter& parameter) {
  const RowGradient gradient = gradient_of_step(step);
  parameter.catch_up(context, gradient.rows);
  parameter.step(context, rate_of(step), gradient);
}

void step_dense(const Context& context, int64_t step, Parameter& parameter) {
  const auto dense = reference::dense<float>(gradient_of_step(step), V);
  std::ranges::copy(dense, parameter.gradient().span<float>().begin());
  parameter.step(context, rate_of(step));
}

void take_step(const Context& context, int64_t step, Parameter& parameter) {
  if (parameter.options().rows) {
    step_rows(context, step, parameter);
  } else {
    step_dense(context, step, parameter);
  }
}

std::vector<char> bits_of(ConstTensorView tensor) {
  const auto* first = static_cast<const char*>(tensor.bytes());
  return {first, first + tensor.shape().elements() * size_of(tensor.dtype())};
}

class OptimiserTest : public testing::Test {
 protected:
  const Context& context() const { return context_; }

  void save(const Parameter& parameter) const {
    SafetensorsWriter writer;
    parameter.save(writer);
    writer.write(folder_ / "checkpoint");
  }
  SafetensorsFile saved() const { return SafetensorsFile(folder_ / "checkpoint"); }

 private:
  ThreadPool pool_{2};
  Context context_{pool_};
  TemporaryFolder folder_;
};

TEST(ScheduleTest, RisesAndFallsAndIsNeverZero) {
  EXPECT_FLOAT_EQ(scheduled_rate(2, 0.1F, 1, 100), 0.2F);
  EXPECT_FLOAT_EQ(scheduled_rate(2, 0.1F, 5, 100), 1);
  EXPECT_EQ(scheduled_rate(2, 0.1F, 10, 100), 2);
  EXPECT_FLOAT_EQ(scheduled_rate(2, 0.1F, 11, 100), 2 * 90.0F / 91);
  EXPECT_FLOAT_EQ(scheduled_rate(2, 0.1F, 100, 100), 2 / 91.0F);
  EXPECT_EQ(scheduled_rate(2, 0, 1, 100), 2);
  EXPECT_EQ(scheduled_rate(2, 0, 51, 100), 1);
  EXPECT_EQ(scheduled_rate(2, 1, 100, 100), 2);
  EXPECT_EQ(scheduled_rate(2, 0.1F, 1, 1), 2);
  EXPECT_THROW(scheduled_rate(2, 0.1F, 0, 100), InternalError);
  EXPECT_THROW(scheduled_rate(2, 0.1F, 101, 100), InternalError);
}

// Both forms against dense AdamW in double, within the bound of row_catch_up.h and what rounding
// adds in every step.
TEST_F(OptimiserTest, RowsAndDenseArriveWhereAdamWDoes) {
  const AdamWSettings settings{.weight_decay = 0.1F};
  const std::vector<double> zero(V * D);
  auto expected = reference::adamw_start(values_of<double>(random_floats({V, D}, 1)), zero, zero);
  Parameter dense = make_parameter(false);
  Parameter rows = make_parameter(true);
  for (int64_t step = 1; step <= kSteps; ++step) {
    const auto gradient = reference::dense<double>(gradient_of_step(step), V);
    reference::adamw(settings, double{rate_of(step)}, step, gradient, expected);
    step_dense(context(), step, dense);
    step_rows(context(), step, rows);
  }
  rows.catch_up_all(context());
  expect_arrived(dense.weights(), expected.w, expected.travel, 1e-5, 4e-6);
  expect_arrived(rows.weights(), expected.w, expected.travel, 1e-5, 4e-6);
}

TEST_F(OptimiserTest, TheGradientIsZeroAfterAStep) {
  Parameter parameter = make_parameter(false);
  step_dense(context(), 1, parameter);
  EXPECT_THAT(parameter.gradient().span<float>(), testing::Each(0));
  EXPECT_THROW(make_parameter(true).gradient(), InternalError);
}

// What a run does that is killed and goes on, with averages in between.
TEST_F(OptimiserTest, SavedInTheMiddleItGoesOnToTheSameBits) {
  for (const bool rows : {false, true}) {
    for (const int64_t killed : {0, 7, 31}) {
      SCOPED_TRACE(testing::Message() << "rows=" << rows << " killed=" << killed);
      const auto run = [&](Parameter& parameter, int64_t first, int64_t last) {
        for (int64_t step = first; step <= last; ++step) {
          take_step(context(), step, parameter);
          if (step % 10 == 0) parameter.average(context());
        }
      };
      Parameter unbroken = make_parameter(rows);
      run(unbroken, 1, killed);
      run(unbroken, killed + 1, kSteps);
      Parameter broken = make_parameter(rows);
      run(broken, 1, killed);
      save(broken);
      Parameter resumed({V, D}, broken.options());
      take_step(context(), 1, resumed);  // what was there does not show
      resumed.average(context());
      resumed.load(saved());
      run(resumed, killed + 1, kSteps);
      resumed.catch_up_all(context());
      unbroken.catch_up_all(context());
      EXPECT_EQ(bits_of(resumed.weights()), bits_of(unbroken.weights()));
      EXPECT_EQ(bits_of(resumed.values(Weights::kAveraged)),
                bits_of(unbroken.values(Weights::kAveraged)));
    }
  }
}

TEST_F(OptimiserTest, AGradientBetweenBatchesIsSaved) {
  Parameter unbroken = make_parameter(false);
  copy(random_floats({V, D}, 8), unbroken.gradient());
  save(unbroken);
  Parameter resumed = make_parameter(false);
  resumed.load(saved());
  EXPECT_EQ(bits_of(resumed.gradient()), bits_of(unbroken.gradient()));
}

TEST_F(OptimiserTest, RefusesTheStateOfAnother) {
  save(make_parameter(true));
  const SafetensorsFile file = saved();
  Parameter other({V, D}, {.name = "gain"});
  EXPECT_THAT([&] { other.load(file); }, ThrowsMessage<InputError>(HasSubstr("gain.weights")));
  Parameter wide({V, D + 1}, {.name = "table", .rows = true});
  EXPECT_THAT(
      [&] { wide.load(file); },
      ThrowsMessage<InputError>(HasSubstr("is float32 [20, 7], but must be float32 [20, 8]")));
  Parameter dense({V, D}, {.name = "table"});
  EXPECT_THAT([&] { dense.load(file); },
              ThrowsMessage<InputError>(HasSubstr("table was not trained in the way it is now")));
}

TEST_F(OptimiserTest, TheAverageIsTheMeanOfWhatWasThere) {
  for (const bool rows : {false, true}) {
    Parameter parameter = make_parameter(rows);
    EXPECT_EQ(bits_of(parameter.values(Weights::kAveraged)),
              bits_of(std::as_const(parameter).weights()));
    std::vector<double> mean(V * D);
    const int kAverages = 5;
    for (int64_t step = 1; step <= 3 * kAverages; ++step) {
      take_step(context(), step, parameter);
      if (step % 3 != 0) continue;
      parameter.average(context());  // catches up: the weights are now whole
      const auto values = parameter.weights().span<float>();
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += double{values[i]} / kAverages;
    }
    expect_near(parameter.values(Weights::kAveraged), mean, 1e-6);
    EXPECT_NE(bits_of(parameter.values(Weights::kAveraged)),
              bits_of(std::as_const(parameter).weights()));
  }
}

// After a restart a parameter is as new, but for its weights.
TEST_F(OptimiserTest, ARestartForgetsAllButTheWeights) {
  for (const bool rows : {false, true}) {
    SCOPED_TRACE(rows);
    Parameter parameter = make_parameter(rows);
    for (int64_t step = 1; step <= 9; ++step) take_step(context(), step, parameter);
    parameter.average(context());
    parameter.set_rates(0.5F, 0.01F);
    parameter.restart();
    EXPECT_EQ(parameter.options().rate, 0.5F);
    EXPECT_EQ(bits_of(parameter.values(Weights::kAveraged)),
              bits_of(std::as_const(parameter).weights()));

    Parameter fresh({V, D}, parameter.options());
    copy(parameter.weights(), fresh.weights());
    for (int64_t step = 1; step <= 9; ++step) {
      take_step(context(), step, parameter);
      take_step(context(), step, fresh);
    }
    EXPECT_EQ(bits_of(parameter.weights()), bits_of(fresh.weights()));
  }
}

TEST_F(OptimiserTest, UniformFillsItsRange) {
  Tensor weights({1000, 7}, DType::kFloat32);
  fill_uniform(context(), weights, 0.3F, 1, 2);
  double mean = 0;
  double squares = 0;
  for (const float value : weights.span<float>()) {
    ASSERT_GE(value, -0.3F);
    ASSERT_LT(value, 0.3F);
    mean += double{value} / 7000;
    squares += double{value} * double{value} / 7000;
  }
  EXPECT_NEAR(mean, 0, 0.01);
  EXPECT_NEAR(squares, 0.3 * 0.3 / 3, 0.001);
  Tensor other({1000, 7}, DType::kFloat32);
  fill_uniform(context(), other, 0.3F, 1, 3);
  EXPECT_NE(bits_of(weights), bits_of(other));
}

TEST(OptimiserThreadsTest, SameBitsAtAnyThreadCount) {
  expect_same_bits_at_any_thread_count([](const Context& context) {
    std::vector<Tensor> results;
    for (const bool rows : {false, true}) {
      Parameter parameter = make_parameter(rows);
      for (int64_t step = 1; step <= 12; ++step) take_step(context, step, parameter);
      parameter.average(context);
      results.push_back(copy_to(Device::kCpu, parameter.weights()));
    }
    results.emplace_back(Shape{300, 400}, DType::kFloat32);
    fill_uniform(context, results.back(), 1, 1, 1);
    return results;
  });
}

}  // namespace
}  // namespace elias
