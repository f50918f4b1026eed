#include "ops/product/linear.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "ops/rows/convert.h"
#include "tests/ops/backends.h"
#include "tests/ops/linear_reference.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

class LinearTest : public OnBackend {
 protected:
  // What rounding may do to a sum of that many terms. Tensor cores round every addition towards
  // zero, so their error grows with the number of terms.
  double tolerance_of(int64_t terms) const {
    return device() == Device::kCuda ? 2e-9 * static_cast<double>(std::max<int64_t>(1000, terms))
                                     : 2e-6;
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, LinearTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

struct Sizes {
  int64_t N, D, O;
};

// Below, at and beyond the edges of tiles, panels, tasks and passes over k.
const Sizes kSizes[] = {{1, 1, 1},       {3, 5, 2},     {0, 4, 3},     {4, 0, 3},
                        {4, 3, 0},       {14, 32, 32},  {15, 33, 31},  {16, 64, 16},
                        {33, 100, 65},   {1, 768, 300}, {257, 40, 9},  {30, 1025, 7},
                        {100, 31, 1040}, {4200, 5, 17}, {1700, 9, 10}, {800, 3, 4300}};

// bf16 keeps 8 bits, so the operands are rounded before the reference sees them, which leaves only
// the order of the sums.
Tensor operand(Shape shape, uint64_t seed, Precision precision) {
  Tensor tensor = random_floats(shape, seed);
  if (precision == Precision::kBFloat16) {
    for (float& value : tensor.span<float>()) value = to_float(to_bfloat16(value));
  }
  return tensor;
}

TEST(LinearGradientTest, ReferenceIsTheDerivative) {
  const size_t N = 3;
  const size_t D = 4;
  const size_t O = 2;
  const auto x = values_of<double>(random_floats({3, 4}, 1));
  const auto w = values_of<double>(random_floats({2, 4}, 2));
  const auto b = values_of<double>(random_floats({2}, 3));
  const auto dy = values_of<double>(random_floats({3, 2}, 4));
  const auto loss = [&](auto& at_x, auto& at_w, auto& at_b) {
    return dot(reference::linear(at_x, at_w, at_b, false, N, D, O), dy);
  };
  expect_gradient([&](auto& at) { return loss(at, w, b); }, x,
                  reference::linear_input_gradient(dy, w, N, D, O));
  expect_gradient([&](auto& at) { return loss(x, at, b); }, w,
                  reference::linear_weight_gradient(dy, x, N, D, O));
  expect_gradient([&](auto& at) { return loss(x, w, at); }, b,
                  reference::linear_bias_gradient(dy, N, O));
}

TEST_P(LinearTest, AllFormsMatchReference) {
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    for (const auto& [N, D, O] : kSizes) {
      SCOPED_TRACE(testing::Message() << "N=" << N << " D=" << D << " O=" << O
                                      << " bf16=" << (precision == Precision::kBFloat16));
      const Tensor x = operand({N, D}, 1, precision);
      const Tensor w = operand({O, D}, 2, precision);
      const Tensor bias = random_floats({O}, 3);
      const Tensor dy = operand({N, O}, 4, precision);
      const auto x_values = values_of<double>(x);
      const auto w_values = values_of<double>(w);
      const auto dy_values = values_of<double>(dy);
      const Tensor w_here = here(w);

      const PackedWeights packed = pack_weights(context(), w_here, PackedFor::kForward, precision);
      Tensor y = zeros({N, O});
      linear(context(), here(x), packed, {}, Activation::kNone, y);
      expect_near(back(y), reference::linear(x_values, w_values, {}, false, N, D, O),
                  tolerance_of(D));
      linear(context(), here(x), packed, here(bias), Activation::kRelu, y);
      expect_near(back(y),
                  reference::linear(x_values, w_values, values_of<double>(bias), true, N, D, O),
                  tolerance_of(D));

      const PackedWeights packed_back =
          pack_weights(context(), w_here, PackedFor::kInputGradient, precision);
      Tensor dx = zeros({N, D});
      linear_input_gradient(context(), here(dy), packed_back, dx);
      expect_near(back(dx), reference::linear_input_gradient(dy_values, w_values, N, D, O),
                  tolerance_of(O));

      // What adds, adds to what is there.
      const Tensor dx_before = random_floats({N, D}, 6);
      auto dx_expected = reference::linear_input_gradient(dy_values, w_values, N, D, O);
      for (size_t i = 0; i < dx_expected.size(); ++i) dx_expected[i] += dx_before.span<float>()[i];
      Tensor dx_sum = here(dx_before);
      add_linear_input_gradient(context(), here(dy), packed_back, dx_sum);
      expect_near(back(dx_sum), dx_expected, tolerance_of(O));

      const Tensor before = random_floats({O, D}, 5);
      auto dw_expected = reference::linear_weight_gradient(dy_values, x_values, N, D, O);
      for (size_t i = 0; i < dw_expected.size(); ++i) dw_expected[i] += before.span<float>()[i];
      Tensor dw = here(before);
      linear_weight_gradient(context(), here(dy), here(x), precision, dw);
      expect_near(back(dw), dw_expected, tolerance_of(N));

      auto db_expected = reference::linear_bias_gradient(dy_values, N, O);
      for (size_t i = 0; i < db_expected.size(); ++i) db_expected[i] += bias.span<float>()[i];
      Tensor db = here(bias);
      linear_bias_gradient(context(), here(dy), db);
      expect_near(back(db), db_expected, tolerance_of(N));
    }
  }
}

TEST_P(LinearTest, RoundsOperandsToBFloat16) {
  const int64_t N = 20;
  const int64_t D = 50;
  const int64_t O = 30;
  const Tensor x = random_floats({N, D}, 1);
  const Tensor w = random_floats({O, D}, 2);
  const auto expected = reference::linear(
      values_of<double>(operand({N, D}, 1, Precision::kBFloat16)),
      values_of<double>(operand({O, D}, 2, Precision::kBFloat16)), {}, false, N, D, O);
  Tensor y = zeros({N, O});
  linear(context(), here(x),
         pack_weights(context(), here(w), PackedFor::kForward, Precision::kBFloat16), {},
         Activation::kNone, y);
  expect_near(back(y), expected, 2e-6);
}

TEST_P(LinearTest, WorksOnViews) {
  const Tensor wide_x = random_floats({9, 50}, 1);
  const Tensor wide_w = random_floats({8, 60}, 2);
  const Tensor x = copy_to(Device::kCpu, wide_x.view().columns(3, 40));
  const Tensor w = copy_to(Device::kCpu, wide_w.view().columns(11, 48));
  const auto expected =
      reference::linear(values_of<double>(x), values_of<double>(w), {}, false, 9, 37, 8);
  const Tensor x_here = here(wide_x);
  const Tensor w_here = here(wide_w);
  Tensor y = here(random_floats({9, 20}, 3));
  const Tensor before = back(y);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    const PackedWeights packed =
        pack_weights(context(), w_here.view().columns(11, 48), PackedFor::kForward, precision);
    linear(context(), x_here.view().columns(3, 40), packed, {}, Activation::kNone,
           y.view().columns(5, 13));
    expect_near(back(y.view().columns(5, 13)), expected,
                precision == Precision::kFloat32 ? 2e-6 : 2e-2);
    for (const auto& [begin, end] : {std::pair(0, 5), std::pair(13, 20)}) {
      expect_near(back(y.view().columns(begin, end)),
                  values_of<double>(copy_to(Device::kCpu, before.view().columns(begin, end))), 0);
    }
  }
}

// Rows in bf16, in and out, each on its own, give what float rows give, rounded. The second sizes
// are those at which a GPU takes rows as they are.
TEST_P(LinearTest, TakesRowsInBFloat16) {
  const auto rounded = [&](ConstTensorView tensor) {
    Tensor result = zeros(tensor.shape(), DType::kBFloat16);
    convert(context(), tensor, result);
    return result;
  };
  const auto floats = [&](ConstTensorView tensor) {
    if (tensor.dtype() == DType::kFloat32) return back(tensor);
    Tensor result = zeros(tensor.shape());
    convert(context(), tensor, result);
    return back(result);
  };
  for (const auto& [N, D, O] : {Sizes{21, 50, 35}, Sizes{21, 64, 40}, Sizes{3, 0, 8},
                                Sizes{300, 96, 100}, Sizes{290, 800, 130}, Sizes{40, 1536, 50}}) {
    SCOPED_TRACE(testing::Message() << "N=" << N << " D=" << D << " O=" << O);
    const Tensor x = here(operand({N, D}, 1, Precision::kBFloat16));
    const Tensor dy = here(operand({N, O}, 2, Precision::kBFloat16));
    const Tensor w = here(operand({O, D}, 3, Precision::kBFloat16));
    const Tensor bias = random_floats({O}, 4);
    const Tensor x_rounded = rounded(x);
    const Tensor dy_rounded = rounded(dy);
    const auto x_values = values_of<double>(back(x));
    const auto dy_values = values_of<double>(back(dy));
    const auto w_values = values_of<double>(back(w));
    const auto forward = pack_weights(context(), w, PackedFor::kForward, Precision::kBFloat16);
    const auto backward =
        pack_weights(context(), w, PackedFor::kInputGradient, Precision::kBFloat16);

    for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
      // Half of the last bit of bf16.
      const double tolerance = dtype == DType::kFloat32 ? 2e-6 : 4e-3;
      for (const Tensor* rows : {&x, &x_rounded}) {
        Tensor y = zeros({N, O}, dtype);
        linear(context(), *rows, forward, here(bias), Activation::kRelu, y);
        expect_near(floats(y),
                    reference::linear(x_values, w_values, values_of<double>(bias), true, N, D, O),
                    tolerance);
      }
      for (const Tensor* rows : {&dy, &dy_rounded}) {
        Tensor dx = zeros({N, D}, dtype);
        linear_input_gradient(context(), *rows, backward, dx);
        expect_near(floats(dx), reference::linear_input_gradient(dy_values, w_values, N, D, O),
                    tolerance);
      }
    }
    for (const auto& [left, right] : {std::pair(&dy, &x_rounded), std::pair(&dy_rounded, &x),
                                      std::pair(&dy_rounded, &x_rounded)}) {
      Tensor dw = zeros({O, D});
      linear_weight_gradient(context(), *left, *right, Precision::kBFloat16, dw);
      expect_near(back(dw), reference::linear_weight_gradient(dy_values, x_values, N, D, O), 2e-6);
    }
    if (device() == Device::kCuda) continue;  // where no layer needs that
    Tensor db = zeros({O});
    linear_bias_gradient(context(), dy_rounded, db);
    expect_near(db, reference::linear_bias_gradient(dy_values, N, O), 2e-6);
  }
}

// Parts of rows in bf16 at every offset from 16 bytes; what is around a result stays as it is.
TEST_P(LinearTest, WorksOnViewsInBFloat16) {
  const int64_t N = 9;
  const int64_t D = 16;
  const int64_t O = 8;
  const Tensor w = here(operand({O, D}, 1, Precision::kBFloat16));
  const auto packed = pack_weights(context(), w, PackedFor::kForward, Precision::kBFloat16);
  Tensor wide = zeros({N, 40}, DType::kBFloat16);
  convert(context(), here(random_floats({N, 40}, 2)), wide);
  for (const int64_t begin : {0, 1, 8, 13}) {
    SCOPED_TRACE(testing::Message() << "begin=" << begin);
    const ConstTensorView x = wide.view().columns(begin, begin + D);
    Tensor x_floats = zeros({N, D});
    convert(context(), x, x_floats);
    Tensor y = zeros({N, 24}, DType::kBFloat16);
    linear(context(), x, packed, {}, Activation::kNone, y.view().columns(begin, begin + O));
    Tensor y_floats = zeros({N, 24});
    convert(context(), y, y_floats);
    const Tensor result = back(y_floats);
    expect_near(copy_to(Device::kCpu, result.view().columns(begin, begin + O)),
                reference::linear(values_of<double>(back(x_floats)), values_of<double>(back(w)), {},
                                  false, N, D, O),
                4e-3);
    for (const auto& [from, to] : {std::pair<int64_t, int64_t>(0, begin), {begin + O, 24}}) {
      expect_near(copy_to(Device::kCpu, result.view().columns(from, to)),
                  std::vector<double>(N * (to - from)), 0);
    }
  }
}

class GeluTest : public LinearTest {
 protected:
  static constexpr int64_t kN = 70, kD = 900, kO = 45;

  // Of a tensor of either type.
  Tensor floats(ConstTensorView tensor) const {
    if (tensor.dtype() == DType::kFloat32) return back(tensor);
    Tensor converted = zeros(tensor.shape());
    convert(context(), tensor, converted);
    return converted;
  }
};
INSTANTIATE_TEST_SUITE_P(OnCpu, GeluTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST(LinearGradientTest, SlopeOfGeluIsItsDerivative) {
  std::vector<double> x, slopes;
  for (double at = -6; at <= 6; at += 0.25) {
    x.push_back(at);
    slopes.push_back(reference::gelu_slope(at));
  }
  const auto sum = [](const std::vector<double>& at) {
    double all = 0;
    for (const double value : at) all += reference::gelu(value);
    return all;
  };
  expect_gradient(sum, x, slopes);
}

TEST_P(GeluTest, IsThatOfTheSums) {
  const Tensor x = operand({kN, kD}, 1, Precision::kBFloat16);
  const Tensor w = operand({kO, kD}, 2, Precision::kBFloat16);
  const Tensor bias = random_floats({kO}, 3);
  const auto before = reference::linear(values_of<double>(x), values_of<double>(w),
                                        values_of<double>(bias), false, kN, kD, kO);
  std::vector<double> expected = before;
  for (double& value : expected) value = reference::gelu(value);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    const PackedWeights packed = pack_weights(context(), w, PackedFor::kForward, precision);
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
      if (dtype == DType::kBFloat16 && precision == Precision::kFloat32) continue;
      const double tolerance = dtype == DType::kFloat32 ? 2e-6 : 4e-3;
      Tensor y = zeros({kN, kO}, dtype), sums = zeros({kN, kO}, dtype);
      linear(context(), x, packed, bias, Activation::kGelu, y, sums);
      expect_near(floats(y), expected, tolerance);
      expect_near(floats(sums), before, tolerance);
      Tensor alone = zeros({kN, kO}, dtype);
      linear(context(), x, packed, bias, Activation::kGelu, alone);
      expect_near(floats(alone), values_of<double>(floats(y)), 0);
    }
  }
}

TEST_P(GeluTest, GradientGoesThroughIt) {
  const Tensor dy = operand({kN, kO}, 1, Precision::kBFloat16);
  const Tensor w = operand({kO, kD}, 2, Precision::kBFloat16);
  Tensor before = operand({kN, kD}, 3, Precision::kBFloat16);
  for (float& value : before.span<float>()) value *= 4;
  Tensor halves = zeros(before.shape(), DType::kBFloat16);
  convert(context(), before, halves);
  auto expected =
      reference::linear_input_gradient(values_of<double>(dy), values_of<double>(w), kN, kD, kO);
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] *= reference::gelu_slope(double{before.span<float>()[i]});
  }
  const auto check = [&](Precision precision, ConstTensorView at, DType dtype, double tolerance) {
    const PackedWeights packed = pack_weights(context(), w, PackedFor::kInputGradient, precision);
    Tensor dbefore = zeros({kN, kD}, dtype);
    linear_input_gradient_through_gelu(context(), dy, packed, at, dbefore);
    expect_near(floats(dbefore), expected, tolerance);
  };
  check(Precision::kFloat32, before, DType::kFloat32, 2e-6);
  check(Precision::kBFloat16, before, DType::kFloat32, 2e-6);
  check(Precision::kBFloat16, halves, DType::kFloat32, 2e-6);
  check(Precision::kBFloat16, halves, DType::kBFloat16, 4e-3);
}

TEST_P(GeluTest, FarFromZeroAndNaN) {
  const Tensor x = tensor_of<float>({6, 1}, {-40, -9, 9, 40, 0, std::nanf("")});
  const Tensor w = tensor_of<float>({1, 1}, {1});
  Tensor y = zeros({6, 1});
  linear(context(), x, pack_weights(context(), w, PackedFor::kForward, Precision::kFloat32), {},
         Activation::kGelu, y);
  const auto result = y.span<float>();
  EXPECT_THAT(result.first(5),
              testing::Pointwise(testing::FloatNear(1e-6F), std::vector<float>{0, 0, 9, 40, 0}));
  EXPECT_TRUE(std::isnan(result[5]));
}

TEST_P(LinearTest, NaNIsNotHiddenByRelu) {
  if (device() == Device::kCuda) GTEST_SKIP() << "the contract leaves it open there";
  const float nan = std::nanf("");
  const Tensor x = tensor_of<float>({1, 1}, {nan});
  const Tensor w = tensor_of<float>({2, 1}, {1, -1});
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    Tensor y = zeros({1, 2});
    linear(context(), here(x), pack_weights(context(), here(w), PackedFor::kForward, precision), {},
           Activation::kRelu, y);
    const Tensor result = back(y);
    for (const float value : result.span<float>()) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(LinearThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t N = 300;
  const int64_t D = 1100;
  const int64_t O = 70;
  const Tensor x = random_floats({N, D}, 1);
  const Tensor w = random_floats({O, D}, 2);
  const Tensor bias = random_floats({O}, 3);
  const Tensor dy = random_floats({N, O}, 4);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      std::vector<Tensor> results;
      for (const Shape& shape : {Shape{N, O}, Shape{N, D}, Shape{O, D}, Shape{O}}) {
        results.emplace_back(shape, DType::kFloat32);
      }
      const auto forward = pack_weights(context, w, PackedFor::kForward, precision);
      linear(context, x, forward, bias, Activation::kRelu, results[0]);
      const auto backward = pack_weights(context, w, PackedFor::kInputGradient, precision);
      linear_input_gradient(context, dy, backward, results[1]);
      add_linear_input_gradient(context, dy, backward, results[1]);
      linear_weight_gradient(context, dy, x, precision, results[2]);
      linear_bias_gradient(context, dy, results[3]);
      return results;
    });
  }
}

// A loop inside a body of the pool runs in place, on memory that the outer call must not be using.
TEST(LinearThreadsTest, RunsInsideABodyOfThePool) {
  const Tensor x = random_floats({300, 100}, 1);
  const Tensor w = random_floats({40, 100}, 2);
  ThreadPool pool(3);
  const Context context(pool);
  const auto packed = pack_weights(context, w, PackedFor::kForward, Precision::kBFloat16);
  Tensor expected({300, 40}, DType::kFloat32);
  linear(context, x, packed, {}, Activation::kNone, expected);
  std::vector<Tensor> results;
  for (int i = 0; i < 8; ++i) results.emplace_back(expected.shape(), DType::kFloat32);
  pool.for_each(results.size(),
                [&](size_t i) { linear(context, x, packed, {}, Activation::kNone, results[i]); });
  for (const Tensor& result : results) {
    EXPECT_TRUE(std::ranges::equal(result.span<float>(), expected.span<float>()));
  }
}

TEST(LinearErrorsTest, RefusesWhatDoesNotFitWithTheNumbers) {
  using testing::ThrowsMessage;
  ThreadPool pool(1);
  const Context context(pool, Isa::kScalar);
  const Tensor x({4, 8}, DType::kFloat32);
  const Tensor w({3, 8}, DType::kFloat32);
  Tensor y({4, 3}, DType::kFloat32);
  Tensor narrow({4, 2}, DType::kFloat32);
  const auto packed = pack_weights(context, w, PackedFor::kForward, Precision::kFloat32);
  const auto run = [&](ConstTensorView rows, const PackedWeights& weights, ConstTensorView bias,
                       TensorView result) {
    return [&, rows, bias, result] {
      linear(context, rows, weights, bias, Activation::kNone, result);
    };
  };
  EXPECT_THAT(run(y, packed, {}, y),
              ThrowsMessage<InputError>("linear: x is [4, 3], but must be [any, 8]"));
  EXPECT_THAT(run(x, packed, {}, narrow),
              ThrowsMessage<InputError>("linear: y is [4, 2], but must be [4, 3]"));
  EXPECT_THAT(run(x, packed, x, y),
              ThrowsMessage<InputError>("linear: bias is [4, 8], but must be [3]"));
  EXPECT_THAT(run(x, PackedWeights(), {}, y), testing::Throws<InputError>());
  EXPECT_THAT([&] { linear_input_gradient(context, x, packed, y); },
              ThrowsMessage<InputError>(
                  "linear, input gradient: the weights are packed for the forward pass"));
  EXPECT_THAT(
      [&] { linear_weight_gradient(context, y, w, Precision::kFloat32, y); },
      ThrowsMessage<InputError>("linear, weight gradient: x is [3, 8], but must be [4, any]"));
  const Tensor rounded({4, 8}, DType::kBFloat16);
  EXPECT_THAT(run(rounded, packed, {}, y),
              ThrowsMessage<InputError>("linear: x is bfloat16, but must be float32"));
  if (supported_isas().size() > 1) {
    const Context other(pool, Isa::kAvx2);
    EXPECT_THAT([&] { linear(other, x, packed, {}, Activation::kNone, y); },
                ThrowsMessage<InputError>(
                    "linear: the weights are packed for scalar, but the context is for avx2"));
  }
}

}  // namespace
}  // namespace elias
