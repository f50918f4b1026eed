#include "ops/rows/softmax_clamp.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/softmax_clamp_reference.h"

namespace elias {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class SoftmaxClampTest : public OnBackend {
 protected:
  // Forward and backward of z [N, C] against the reference in double.
  void expect_as_reference(const Tensor& z, float scale) {
    const int64_t N = z.shape()[0];
    const int64_t C = z.shape()[1];
    const Tensor ds = random_floats({N, C}, 2);
    const auto forward = reference::softmax_clamp(values_of<double>(z), C, double{scale});
    const auto gradient =
        reference::softmax_clamp_backward(values_of<double>(ds), forward, C, double{scale});

    const Tensor z_here = here(z);
    Tensor s = zeros({N, C});
    Tensor log_sum = zeros({N});
    Tensor dz = zeros({N, C});
    softmax_clamp(context(), z_here, scale, s, log_sum);
    softmax_clamp_backward(context(), here(ds), z_here, log_sum, scale, dz);
    expect_near(back(s), forward.s, 1e-6);
    expect_near(back(log_sum), forward.log_sum, 1e-6);
    expect_near(back(dz), gradient, 3e-6);
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, SoftmaxClampTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST(SoftmaxClampGradientTest, ReferenceIsTheDerivative) {
  const size_t C = 5;
  const auto z = values_of<double>(random_floats({4, C}, 1, -2, 2));
  const auto ds = values_of<double>(random_floats({4, C}, 2));
  for (const double scale : {1.0, 3.0}) {
    const auto forward = reference::softmax_clamp(z, C, scale);
    const auto clamped = std::count(forward.s.begin(), forward.s.end(), 1.0);
    EXPECT_EQ(clamped > 0, scale > 1);
    expect_gradient([&](auto& at) { return dot(reference::softmax_clamp(at, C, scale).s, ds); }, z,
                    reference::softmax_clamp_backward(ds, forward, C, scale));
  }
}

TEST_P(SoftmaxClampTest, ForwardAndBackwardMatchReference) {
  for (const int64_t N : {0, 1, 7, 40}) {
    for (const int64_t C : {1, 2, 3, 16, 33, 64, 257, 1000}) {
      for (const float scale : {0.5F, 1.0F, 10.0F}) {
        SCOPED_TRACE(testing::Message() << "N=" << N << " C=" << C << " scale=" << scale);
        expect_as_reference(random_floats({N, C}, 1, -4, 4), scale);
      }
    }
  }
}

TEST_P(SoftmaxClampTest, SmallProbabilitiesAreRelativelyRight) {
  // Over the whole range of exp: a tolerance relative to the row's largest would see nothing.
  const int64_t C = 850;
  Tensor z({1, C}, DType::kFloat32);
  for (int64_t i = 0; i < C; ++i) z.span<float>()[i] = -static_cast<float>(i) * 0.0997F;
  const auto expected = reference::softmax_clamp(values_of<double>(z), C, 1.0);
  Tensor s = zeros({1, C});
  Tensor log_sum = zeros({1});
  softmax_clamp(context(), here(z), 1, s, log_sum);
  const Tensor result = back(s);
  for (int64_t i = 0; i < C; ++i) {
    ASSERT_NEAR(result.span<float>()[i] / expected.s[i], 1, 5e-7) << "at element " << i;
  }
}

TEST_P(SoftmaxClampTest, LargeScoresDoNotOverflow) {
  // Here float's grid is about 1e-5, and so is the error of exp(z - log_sum).
  const Tensor z = random_floats({3, 50}, 1, 90, 100);
  Tensor s = zeros({3, 50});
  Tensor log_sum = zeros({3});
  softmax_clamp(context(), here(z), 2, s, log_sum);
  const auto expected = reference::softmax_clamp(values_of<double>(z), 50, 2.0);
  expect_near(back(s), expected.s, 1e-6);
  expect_near(back(log_sum), expected.log_sum, 1e-6);
  // The bound of the contract: 1e-7 |z|, and there are gradients of about 1.
  const Tensor ds = random_floats({3, 50}, 2);
  Tensor dz = zeros({3, 50});
  softmax_clamp_backward(context(), here(ds), here(z), log_sum, 2, dz);
  expect_near(back(dz), reference::softmax_clamp_backward(values_of<double>(ds), expected, 50, 2.0),
              1e-5);
}

TEST_P(SoftmaxClampTest, LeftOutPlacesAreZeroAndGetNoGradient) {
  // Every way to leave out places of a row of six, the last of which leaves out all.
  const int64_t C = 6;
  const int64_t N = 1 << C;
  Tensor z = random_floats({N, C}, 1, -2, 2);
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t i = 0; i < C; ++i) {
      if ((n >> i & 1) != 0) z.span<float>()[n * C + i] = -kInfinity;
    }
  }
  expect_as_reference(z, 2);
  // And in rows of whole vectors.
  Tensor wide = random_floats({2, 70}, 2);
  for (int64_t i = 0; i < 70; ++i) wide.span<float>()[i] = -kInfinity;
  for (int64_t i = 80; i < 130; ++i) wide.span<float>()[i] = -kInfinity;
  expect_as_reference(wide, 20);
}

TEST_P(SoftmaxClampTest, NanSpoilsItsRowAlone) {
  for (const int64_t place : {0, 5, 36}) {
    Tensor z = random_floats({2, 37}, 1);
    z.span<float>()[place] = std::nanf("");
    Tensor s = zeros({2, 37});
    Tensor log_sum = zeros({2});
    softmax_clamp(context(), here(z), 1, s, log_sum);
    const Tensor result = back(s);
    const Tensor sums = back(log_sum);
    for (int64_t i = 0; i < 37; ++i) {
      EXPECT_TRUE(std::isnan(result.span<float>()[i])) << i;
      EXPECT_FALSE(std::isnan(result.span<float>()[37 + i])) << i;
    }
    EXPECT_TRUE(std::isnan(sums.span<float>()[0]));
    EXPECT_FALSE(std::isnan(sums.span<float>()[1]));
  }
}

TEST_P(SoftmaxClampTest, WorksOnViewsAndInPlace) {
  const Tensor wide = random_floats({4, 48}, 1);
  const Tensor z = copy_to(Device::kCpu, wide.view().columns(5, 25));
  const Tensor ds = random_floats({4, 20}, 2);
  const auto forward = reference::softmax_clamp(values_of<double>(z), 20, 12.0);
  const auto gradient = reference::softmax_clamp_backward(values_of<double>(ds), forward, 20, 12.0);

  Tensor on_device = here(wide);
  Tensor log_sum = zeros({4});
  const TensorView part = on_device.view().columns(5, 25);
  softmax_clamp(context(), part, 12, part, log_sum);
  expect_near(back(part), forward.s, 1e-6);
  copy(here(ds), part);
  softmax_clamp_backward(context(), part, here(z), log_sum, 12, part);
  expect_near(back(part), gradient, 3e-6);
  // What is beside the view is left alone.
  for (const auto& [begin, end] : {std::pair{0, 5}, std::pair{25, 48}}) {
    expect_near(back(on_device.view().columns(begin, end)),
                values_of<double>(copy_to(Device::kCpu, wide.view().columns(begin, end))), 0);
  }
}

TEST_P(SoftmaxClampTest, RowsWithoutPlaces) {
  Tensor s = zeros({3, 0});
  Tensor log_sum = zeros({3});
  softmax_clamp(context(), zeros({3, 0}), 1, s, log_sum);
  softmax_clamp_backward(context(), zeros({3, 0}), zeros({3, 0}), log_sum, 1, s);
  const Tensor sums = back(log_sum);
  EXPECT_THAT(sums.span<float>(), testing::Each(-kInfinity));
}

TEST(SoftmaxClampThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t N = 333;
  const int64_t C = 300;
  const Tensor z = random_floats({N, C}, 1, -3, 3);
  const Tensor ds = random_floats({N, C}, 2);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    for (const Shape& shape : {Shape{N, C}, Shape{N}, Shape{N, C}}) {
      results.emplace_back(shape, DType::kFloat32);
    }
    softmax_clamp(context, z, 50, results[0], results[1]);
    softmax_clamp_backward(context, ds, z, results[1], 50, results[2]);
    return results;
  });
}

TEST(SoftmaxClampErrorsTest, RefusesWrongShapesWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor z({4, 8}, DType::kFloat32);
  Tensor s({4, 8}, DType::kFloat32);
  Tensor narrow({4, 7}, DType::kFloat32);
  Tensor log_sum({4}, DType::kFloat32);
  Tensor short_sum({3}, DType::kFloat32);
  const auto refuses = [](std::string_view message) {
    return testing::ThrowsMessage<InputError>(std::string(message));
  };
  EXPECT_THAT([&] { softmax_clamp(context, z, 1, narrow, log_sum); },
              refuses("softmax clamp: s is [4, 7], but must be [4, 8]"));
  EXPECT_THAT([&] { softmax_clamp(context, z, 1, s, short_sum); },
              refuses("softmax clamp: log_sum is [3], but must be [4]"));
  EXPECT_THAT([&] { softmax_clamp(context, z, -1, s, log_sum); },
              refuses("softmax clamp: scale is -1, but must be finite and positive"));
  EXPECT_THAT([&] { softmax_clamp_backward(context, narrow, z, log_sum, 1, s); },
              refuses("softmax clamp, backward: ds is [4, 7], but must be [4, 8]"));
  EXPECT_THAT([&] { softmax_clamp_backward(context, s, z, log_sum, 0, s); },
              refuses("softmax clamp, backward: scale is 0, but must be finite and positive"));
}

}  // namespace
}  // namespace elias
