#include "ops/rows/layer_norm.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/layer_norm_reference.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

constexpr float kEpsilon = 1e-5F;

class LayerNormTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, LayerNormTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST(LayerNormGradientTest, ReferenceIsTheDerivative) {
  const size_t D = 5;
  const auto x = values_of<double>(random_floats({3, D}, 1));
  const auto gain = values_of<double>(random_floats({D}, 2));
  const auto bias = values_of<double>(random_floats({D}, 3));
  const auto dy = values_of<double>(random_floats({3, D}, 4));
  const auto forward = reference::layer_norm(x, gain, bias, 1e-5);
  const auto gradient = reference::layer_norm_backward(dy, forward, gain);
  expect_gradient([&](auto& at) { return dot(reference::layer_norm(at, gain, bias, 1e-5).y, dy); },
                  x, gradient.dx);
  expect_gradient([&](auto& at) { return dot(reference::layer_norm(x, at, bias, 1e-5).y, dy); },
                  gain, gradient.dgain);
  expect_gradient([&](auto& at) { return dot(reference::layer_norm(x, gain, at, 1e-5).y, dy); },
                  bias, gradient.dbias);
}

TEST_P(LayerNormTest, ForwardAndBackwardMatchReference) {
  for (const int64_t N : {0, 1, 7, 100}) {
    for (const int64_t D : {1, 3, 16, 33, 257, 768}) {
      SCOPED_TRACE(testing::Message() << "N=" << N << " D=" << D);
      // An offset shows whether the variance is taken about the mean.
      const Tensor x = random_floats({N, D}, 1, 3, 5);
      const Tensor gain = random_floats({D}, 2);
      const Tensor bias = random_floats({D}, 3);
      const Tensor dy = random_floats({N, D}, 4);
      const auto forward = reference::layer_norm(values_of<double>(x), values_of<double>(gain),
                                                 values_of<double>(bias), double{kEpsilon});
      const auto gradient =
          reference::layer_norm_backward(values_of<double>(dy), forward, values_of<double>(gain));

      const Tensor x_here = here(x);
      const Tensor gain_here = here(gain);
      Tensor y = zeros({N, D});
      Tensor mean = zeros({N});
      Tensor inverse = zeros({N});
      layer_norm(context(), x_here, gain_here, here(bias), kEpsilon, y, {mean, inverse});
      expect_near(back(y), forward.y, 3e-5);

      Tensor dx = zeros({N, D});
      Tensor dgain = zeros({D});
      Tensor dbias = zeros({D});
      layer_norm_backward(context(), here(dy), x_here, gain_here, {mean, inverse}, dx, dgain,
                          dbias);
      expect_near(back(dx), gradient.dx, 3e-5);
      expect_near(back(dgain), gradient.dgain, 3e-5);
      expect_near(back(dbias), gradient.dbias, 3e-5);
    }
  }
}

TEST_P(LayerNormTest, WorksOnViewsAndInPlace) {
  const Tensor wide = random_floats({4, 48}, 1);
  Tensor dense({4, 20}, DType::kFloat32);
  copy(wide.view().columns(5, 25), dense);
  const Tensor gain = random_floats({20}, 2);
  const Tensor bias = random_floats({20}, 3);
  const auto expected = reference::layer_norm(values_of<double>(dense), values_of<double>(gain),
                                              values_of<double>(bias), double{kEpsilon});
  Tensor on_device = here(wide);
  Tensor mean = zeros({4});
  Tensor inverse = zeros({4});
  const TensorView part = on_device.view().columns(5, 25);
  layer_norm(context(), part, here(gain), here(bias), kEpsilon, part, {mean, inverse});
  const Tensor result = back(part);
  expect_near(result, expected.y, 3e-5);
  // What is beside the view is left alone.
  expect_near(back(on_device.view().columns(0, 5)),
              values_of<double>(copy_to(Device::kCpu, wide.view().columns(0, 5))), 0);
  expect_near(back(on_device.view().columns(25, 48)),
              values_of<double>(copy_to(Device::kCpu, wide.view().columns(25, 48))), 0);
}

TEST(LayerNormThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t N = 333;
  const int64_t D = 100;
  const Tensor x = random_floats({N, D}, 1);
  const Tensor gain = random_floats({D}, 2);
  const Tensor bias = random_floats({D}, 3);
  const Tensor dy = random_floats({N, D}, 4);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    for (const Shape& shape : {Shape{N, D}, Shape{N}, Shape{N}, Shape{N, D}, Shape{D}, Shape{D}}) {
      results.emplace_back(shape, DType::kFloat32);
    }
    const LayerNormSaved saved{results[1], results[2]};
    layer_norm(context, x, gain, bias, kEpsilon, results[0], saved);
    layer_norm_backward(context, dy, x, gain, saved, results[3], results[4], results[5]);
    return results;
  });
}

TEST(LayerNormErrorsTest, RefusesWrongShapesWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor x({4, 8}, DType::kFloat32);
  const Tensor good({8}, DType::kFloat32);
  const Tensor bad({7}, DType::kFloat32);
  Tensor y({4, 8}, DType::kFloat32);
  Tensor mean({4}, DType::kFloat32);
  Tensor inverse({4}, DType::kFloat32);
  EXPECT_THAT(
      [&] {
        layer_norm(context, x, bad, good, kEpsilon, y, {mean, inverse});
      },
      testing::ThrowsMessage<InputError>("layer norm: gain is [7], but must be [8]"));
  EXPECT_THAT(
      [&] {
        layer_norm(context, x, good, good, 0, y, {mean, inverse});
      },
      testing::ThrowsMessage<InputError>(
          "layer norm: epsilon is 0, but must be finite and positive"));
}

}  // namespace
}  // namespace elias
