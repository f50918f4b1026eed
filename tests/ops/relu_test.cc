#include "ops/rows/relu.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/relu_reference.h"

namespace elias {
namespace {

class ReluTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, ReluTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST(ReluGradientTest, ReferenceIsTheDerivative) {
  const auto x = values_of<double>(random_floats({20}, 1));
  const auto dy = values_of<double>(random_floats({20}, 2));
  expect_gradient([&](auto& at) { return dot(reference::relu(at), dy); }, x,
                  reference::relu_backward(dy, reference::relu(x)));
}

TEST_P(ReluTest, ForwardAndBackwardAreTheReferences) {
  for (const Shape& shape : {Shape{0}, Shape{1}, Shape{17}, Shape{3, 5}, Shape{0, 4}, Shape{4, 0},
                             Shape{2, 3, 129}, Shape{40'001}}) {
    SCOPED_TRACE(shape.text());
    const Tensor x = random_floats(shape, 1);
    const Tensor dy = random_floats(shape, 2);
    const auto y = reference::relu(values_of<double>(x));
    const auto dx = reference::relu_backward(values_of<double>(dy), y);
    Tensor result(shape, DType::kFloat32);
    relu(context(), x, result);
    expect_near(result, y, 0);
    Tensor gradient(shape, DType::kFloat32);
    relu_backward(context(), dy, result, gradient);
    expect_near(gradient, dx, 0);
  }
}

TEST_P(ReluTest, NanStays) {
  for (const int64_t width : {1, 16, 37}) {
    Tensor x({width}, DType::kFloat32);
    x.span<float>()[width - 1] = std::nanf("");
    relu(context(), x, x);
    EXPECT_TRUE(std::isnan(x.span<float>()[width - 1]));
  }
}

TEST_P(ReluTest, WorksOnViewsAndInPlace) {
  const Tensor before = random_floats({5, 48}, 1);
  const Tensor x = copy_to(Device::kCpu, before.view().columns(5, 25));
  const Tensor dy = random_floats({5, 20}, 2);
  const auto y = reference::relu(values_of<double>(x));
  Tensor wide = copy_to(Device::kCpu, before);
  const TensorView part = wide.view().columns(5, 25);
  relu(context(), part, part);
  const Tensor result = copy_to(Device::kCpu, part);
  expect_near(result, y, 0);
  copy(dy, part);
  relu_backward(context(), part, result, part);
  expect_near(copy_to(Device::kCpu, part), reference::relu_backward(values_of<double>(dy), y), 0);
  for (const auto& [begin, end] : {std::pair{0, 5}, std::pair{25, 48}}) {
    expect_near(copy_to(Device::kCpu, wide.view().columns(begin, end)),
                values_of<double>(copy_to(Device::kCpu, before.view().columns(begin, end))), 0);
  }
}

TEST_P(ReluTest, WideRowsOfAView) {
  // Rows longer than a run, which are cut.
  const Tensor before = random_floats({2, 40'000}, 1);
  Tensor y({2, 39'999}, DType::kFloat32);
  relu(context(), before.view().columns(1, 40'000), y);
  expect_near(
      y,
      reference::relu(values_of<double>(copy_to(Device::kCpu, before.view().columns(1, 40'000)))),
      0);
}

TEST(ReluThreadsTest, SameBitsAtAnyThreadCount) {
  const Shape shape{7, 9999};
  const Tensor x = random_floats(shape, 1);
  const Tensor dy = random_floats(shape, 2);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    for (int i = 0; i < 2; ++i) results.emplace_back(shape, DType::kFloat32);
    relu(context, x, results[0]);
    relu_backward(context, dy, results[0], results[1]);
    return results;
  });
}

TEST(ReluErrorsTest, RefusesWrongShapesWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor x({4, 8}, DType::kFloat32);
  const Tensor ids({4, 8}, DType::kInt32);
  Tensor y({4, 8}, DType::kFloat32);
  Tensor other({8, 4}, DType::kFloat32);
  using testing::ThrowsMessage;
  EXPECT_THAT([&] { relu(context, x, other); },
              ThrowsMessage<InputError>("relu: y is [8, 4], but x is [4, 8]"));
  EXPECT_THAT([&] { relu(context, ids, y); },
              ThrowsMessage<InputError>("relu: x is int32, but must be float32"));
  EXPECT_THAT([&] { relu(context, x, {}); }, ThrowsMessage<InputError>("relu: y is missing"));
  EXPECT_THAT([&] { relu_backward(context, x, other, y); },
              ThrowsMessage<InputError>("relu, backward: y is [8, 4], but dy is [4, 8]"));
}

}  // namespace
}  // namespace elias
