#include "ops/update/running_average.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/running_average_reference.h"

namespace elias {
namespace {

class RunningAverageTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, RunningAverageTest,
                         testing::ValuesIn(backends(/*cuda=*/false)), backend_name);

TEST_P(RunningAverageTest, IsTheReferenceAndTheAverageOfAllSoFar) {
  for (const Shape& shape :
       {Shape{0}, Shape{1}, Shape{17}, Shape{3, 5}, Shape{2, 3, 129}, Shape{20'001}}) {
    SCOPED_TRACE(shape.text());
    const auto size = static_cast<size_t>(shape.elements());
    Tensor average(shape, DType::kFloat32);
    std::vector<double> expected(size);
    std::vector<double> sum(size);
    for (int64_t count = 1; count <= 9; ++count) {
      const Tensor weights = random_floats(shape, 10 + count, -1, 3);
      const auto values = values_of<double>(weights);
      running_average(context(), weights, count, average);
      reference::running_average(values, count, expected);
      std::vector<double> mean(size);
      for (size_t i = 0; i < size; ++i) {
        sum[i] += values[i];
        mean[i] = sum[i] / static_cast<double>(count);
      }
      expect_near(average, expected, 1e-6);
      expect_near(average, mean, 1e-6);
    }
  }
}

TEST_P(RunningAverageTest, FirstOneForgetsWhatWasThere) {
  const Tensor weights = random_floats({50}, 1);
  Tensor average = random_floats({50}, 2, 1e9F, 2e9F);
  average.span<float>()[7] = std::nanf("");
  running_average(context(), weights, 1, average);
  expect_near(average, values_of<double>(weights), 0);
}

TEST_P(RunningAverageTest, WorksOnViews) {
  const Tensor weights = random_floats({5, 30}, 1);
  const Tensor before = random_floats({5, 48}, 2);
  Tensor wide = copy_to(Device::kCpu, before);
  auto expected = values_of<double>(copy_to(Device::kCpu, before.view().columns(5, 25)));
  reference::running_average(
      values_of<double>(copy_to(Device::kCpu, weights.view().columns(7, 27))), 4, expected);
  running_average(context(), weights.view().columns(7, 27), 4, wide.view().columns(5, 25));
  expect_near(copy_to(Device::kCpu, wide.view().columns(5, 25)), expected, 1e-6);
  for (const auto& [begin, end] : {std::pair{0, 5}, std::pair{25, 48}}) {
    expect_near(copy_to(Device::kCpu, wide.view().columns(begin, end)),
                values_of<double>(copy_to(Device::kCpu, before.view().columns(begin, end))), 0);
  }
}

TEST(RunningAverageThreadsTest, SameBitsAtAnyThreadCount) {
  const Tensor first = random_floats({7, 9999}, 1);
  const Tensor second = random_floats({7, 9999}, 2);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.push_back(copy_to(Device::kCpu, first));
    running_average(context, second, 3, results[0]);
    return results;
  });
}

TEST(RunningAverageErrorsTest, RefusesWrongShapesAndCounts) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor weights({4, 8}, DType::kFloat32);
  Tensor average({4, 8}, DType::kFloat32);
  Tensor other({4, 7}, DType::kFloat32);
  using testing::ThrowsMessage;
  EXPECT_THAT(
      [&] { running_average(context, weights, 1, other); },
      ThrowsMessage<InputError>("running average: average is [4, 7], but weights is [4, 8]"));
  EXPECT_THAT([&] { running_average(context, weights, 0, average); },
              ThrowsMessage<InputError>("running average: count is 0, but must be at least 1"));
}

}  // namespace
}  // namespace elias
