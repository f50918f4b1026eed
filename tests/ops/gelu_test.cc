#include "ops/rows/gelu.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/linear_reference.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

// That the reference's slope is GELU's derivative, linear_test.cc shows.
std::vector<double> reference_backward(const Tensor& dy, const Tensor& x) {
  auto dx = values_of<double>(dy);
  const auto at = values_of<double>(x);
  for (size_t i = 0; i < dx.size(); ++i) dx[i] *= reference::gelu_slope(at[i]);
  return dx;
}

class GeluBackwardTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, GeluBackwardTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(GeluBackwardTest, IsTheReference) {
  for (const Shape& shape : {Shape{0}, Shape{1}, Shape{17}, Shape{3, 5}, Shape{0, 4}, Shape{4, 0},
                             Shape{2, 3, 129}, Shape{40'001}}) {
    SCOPED_TRACE(shape.text());
    Tensor x = random_floats(shape, 1);
    for (float& value : x.span<float>()) value *= 6;  // far into both tails
    const Tensor dy = random_floats(shape, 2);
    Tensor dx(shape, DType::kFloat32);
    gelu_backward(context(), dy, x, dx);
    expect_near(dx, reference_backward(dy, x), 2e-6);
  }
}

TEST_P(GeluBackwardTest, WorksOnViewsAndInPlace) {
  const Tensor x = random_floats({5, 48}, 1);
  const Tensor dy = random_floats({5, 20}, 2);
  Tensor dx = copy_to(Device::kCpu, dy);
  const ConstTensorView part = x.view().columns(5, 25);
  gelu_backward(context(), dx, part, dx);
  expect_near(dx, reference_backward(dy, copy_to(Device::kCpu, part)), 2e-6);
}

TEST(GeluBackwardThreadsTest, SameBitsAtAnyThreadCount) {
  const Shape shape{7, 9999};
  const Tensor x = random_floats(shape, 1), dy = random_floats(shape, 2);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.emplace_back(shape, DType::kFloat32);
    gelu_backward(context, dy, x, results[0]);
    return results;
  });
}

TEST(GeluBackwardErrorsTest, RefusesWrongShapesWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor dy({4, 8}, DType::kFloat32), other({8, 4}, DType::kFloat32);
  Tensor dx({4, 8}, DType::kFloat32);
  EXPECT_THAT([&] { gelu_backward(context, dy, other, dx); },
              testing::ThrowsMessage<InputError>("GELU, backward: x is [8, 4], but dy is [4, 8]"));
}

}  // namespace
}  // namespace elias
