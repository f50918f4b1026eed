#include "ops/rows/residual_norm.h"

#include <gmock/gmock.h>

#include "ops/rows/convert.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/residual_norm_reference.h"

namespace elias {
namespace {

constexpr float kEpsilon = 1e-5F;
constexpr DropoutKey kKey{.seed = 0x89abcdef'01234567, .stream = 0xfedcba98'76543210};

class ResidualNormTest : public OnBackend {
 protected:
  Tensor as(DType dtype, ConstTensorView tensor) const {
    if (tensor.dtype() == dtype) return copy_to(Device::kCpu, tensor);
    Tensor converted(tensor.shape(), dtype);
    convert(context(), tensor, converted);
    return converted;
  }
  // With values that bf16 has.
  Tensor rounded(Shape shape, uint64_t seed, float low = -1, float high = 1) const {
    return as(DType::kFloat32, as(DType::kBFloat16, random_floats(shape, seed, low, high)));
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, ResidualNormTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST(ResidualNormGradientTest, ReferenceIsTheDerivative) {
  const int64_t D = 6;
  const auto x = values_of<double>(random_floats({3, D}, 1));
  const auto residual = values_of<double>(random_floats({3, D}, 2));
  const auto gain = values_of<double>(random_floats({D}, 3));
  const auto shift = values_of<double>(random_floats({D}, 4));
  const auto dy = values_of<double>(random_floats({3, D}, 5));
  const auto loss = [&](auto& at_x, auto& at_residual, auto& at_gain, auto& at_shift) {
    const auto forward =
        reference::residual_norm(at_x, at_residual, at_gain, at_shift, 1e-5, 0.3F, kKey);
    return dot(forward.norm.y, dy);
  };
  const auto gradient = reference::residual_norm_backward(
      dy, reference::residual_norm(x, residual, gain, shift, 1e-5, 0.3F, kKey), gain, 0.3F, kKey);
  expect_gradient([&](auto& at) { return loss(at, residual, gain, shift); }, x, gradient.dx);
  expect_gradient([&](auto& at) { return loss(x, at, gain, shift); }, residual, gradient.dresidual);
  expect_gradient([&](auto& at) { return loss(x, residual, at, shift); }, gain, gradient.dgain);
  expect_gradient([&](auto& at) { return loss(x, residual, gain, at); }, shift, gradient.dshift);
}

TEST_P(ResidualNormTest, BothPassesMatchReference) {
  for (const auto& [N, D] :
       {std::pair<int64_t, int64_t>(0, 8), {1, 1}, {7, 3}, {40, 33}, {100, 384}}) {
    for (const float rate : {0.0F, 0.3F}) {
      for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
        SCOPED_TRACE(testing::Message()
                     << "N=" << N << " D=" << D << " rate=" << rate << " " << name_of(dtype));
        const Tensor x = rounded({N, D}, 1, 1, 2), residual = random_floats({N, D}, 2, 1, 3);
        const Tensor gain = random_floats({D}, 3), shift = random_floats({D}, 4);
        const Tensor dy = random_floats({N, D}, 5);
        auto forward = reference::residual_norm(values_of<double>(x), values_of<double>(residual),
                                                values_of<double>(gain), values_of<double>(shift),
                                                double{kEpsilon}, rate, kKey);

        const Tensor own_x = as(dtype, x);
        const ResidualNormInput input{.x = own_x,
                                      .residual = residual,
                                      .gain = gain,
                                      .shift = shift,
                                      .epsilon = kEpsilon,
                                      .dropout = rate,
                                      .key = kKey};
        Tensor sum({N, D}, dtype), y({N, D}, DType::kFloat32);
        Tensor mean({N}, DType::kFloat32), inverse({N}, DType::kFloat32);
        residual_norm(context(), input, sum, y, {mean, inverse});
        expect_near(y, forward.norm.y, 3e-5);
        const Tensor kept_sum = as(DType::kFloat32, sum);
        expect_near(kept_sum, forward.sum, dtype == DType::kFloat32 ? 1e-6 : 4e-3);

        // The backward pass takes the sum as it was kept.
        for (size_t i = 0; i < forward.norm.unit.size(); ++i) {
          const size_t row = i / static_cast<size_t>(D);
          forward.norm.unit[i] = (double{kept_sum.span<float>()[i]} - mean.span<float>()[row]) *
                                 double{inverse.span<float>()[row]};
        }
        const auto gradient = reference::residual_norm_backward(
            values_of<double>(dy), forward, values_of<double>(gain), rate, kKey);
        Tensor dresidual({N, D}, DType::kFloat32), dx({N, D}, dtype);
        Tensor dgain({D}, DType::kFloat32), dshift({D}, DType::kFloat32);
        residual_norm_backward(context(), input, sum, {mean, inverse}, dy, dresidual, dx, dgain,
                               dshift);
        expect_near(dresidual, gradient.dresidual, 5e-5);
        expect_near(as(DType::kFloat32, dx), gradient.dx, dtype == DType::kFloat32 ? 5e-5 : 4e-3);
        expect_near(dgain, gradient.dgain, 5e-5);
        expect_near(dshift, gradient.dshift, 5e-5);
      }
    }
  }
}

// As training has them: the sum in the place of x, gradients in the place of others.
TEST_P(ResidualNormTest, WorksInPlaceAndWithoutSum) {
  const Tensor x = random_floats({9, 50}, 1), residual = random_floats({9, 50}, 2);
  const Tensor gain = random_floats({50}, 3), shift = random_floats({50}, 4);
  Tensor both = copy_to(Device::kCpu, x);
  ResidualNormInput input{.x = x, .residual = residual, .gain = gain, .shift = shift};
  Tensor mean({9}, DType::kFloat32), inverse({9}, DType::kFloat32);
  Tensor sum({9, 50}, DType::kFloat32), y(sum.shape(), DType::kFloat32);
  residual_norm(context(), input, sum, y, {mean, inverse});
  Tensor alone(sum.shape(), DType::kFloat32);
  residual_norm(context(), input, {}, alone, {mean, inverse});
  expect_near(alone, values_of<double>(y), 0);
  input.x = both;
  residual_norm(context(), input, both, alone, {mean, inverse});
  expect_near(alone, values_of<double>(y), 0);
  expect_near(both, values_of<double>(sum), 0);

  Tensor dy = random_floats({9, 50}, 5), dx(sum.shape(), DType::kFloat32);
  Tensor dresidual(sum.shape(), DType::kFloat32);
  Tensor dgain({50}, DType::kFloat32), dshift({50}, DType::kFloat32);
  residual_norm_backward(context(), input, sum, {mean, inverse}, dy, dresidual, dx, dgain, dshift);
  residual_norm_backward(context(), input, sum, {mean, inverse}, dy, dy, dx, dgain, dshift);
  expect_near(dy, values_of<double>(dresidual), 0);
}

TEST(ResidualNormThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t N = 333, D = 100;
  const Tensor x = random_floats({N, D}, 1), residual = random_floats({N, D}, 2);
  const Tensor gain = random_floats({D}, 3), shift = random_floats({D}, 4);
  const Tensor dy = random_floats({N, D}, 5);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    for (const Shape& shape : {Shape{N, D}, Shape{N, D}, Shape{N}, Shape{N}, Shape{N, D},
                               Shape{N, D}, Shape{D}, Shape{D}}) {
      results.emplace_back(shape, DType::kFloat32);
    }
    const ResidualNormInput input{
        .x = x, .residual = residual, .gain = gain, .shift = shift, .dropout = 0.2F, .key = kKey};
    const LayerNormSaved saved{results[2], results[3]};
    residual_norm(context, input, results[0], results[1], saved);
    residual_norm_backward(context, input, results[0], saved, dy, results[4], results[5],
                           results[6], results[7]);
    return results;
  });
}

TEST(ResidualNormErrorsTest, RefusesWhatDoesNotFitWithTheNumbers) {
  using testing::ThrowsMessage;
  ThreadPool pool(1);
  const Context context(pool, Isa::kScalar);
  const Tensor matrix({4, 8}, DType::kFloat32), vector({8}, DType::kFloat32);
  Tensor y({4, 8}, DType::kFloat32), of_rows({4}, DType::kFloat32);
  ResidualNormInput input{.x = matrix, .residual = matrix, .gain = vector, .shift = vector};
  const auto run = [&] { residual_norm(context, input, {}, y, {of_rows, of_rows}); };
  input.gain = of_rows;
  EXPECT_THAT(run, ThrowsMessage<InputError>("residual norm: gain is [4], but must be [8]"));
  input.gain = vector;
  input.epsilon = 0;
  EXPECT_THAT(run, ThrowsMessage<InputError>(
                       "residual norm: epsilon is 0, but must be finite and positive"));
  input.epsilon = kEpsilon;
  input.dropout = -1;
  EXPECT_THAT(run, ThrowsMessage<InputError>(
                       "residual norm: the rate of dropout is -1, but must be in [0, 1)"));
}

}  // namespace
}  // namespace elias
