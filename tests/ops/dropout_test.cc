#include "ops/rows/dropout.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/dropout_reference.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

// Halves that differ and use the top bit, so that a mistake in any of them shows.
constexpr DropoutKey kKey{.seed = 0x89abcdef'01234567, .stream = 0xfedcba98'76543210};

class DropoutTest : public OnBackend {
 protected:
  Tensor dropped(ConstTensorView x, float rate, DropoutKey key = kKey) const {
    Tensor y(x.shape(), DType::kFloat32);
    dropout(context(), x, rate, key, y);
    return y;
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, DropoutTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

// Bit for bit: masks do not depend on the instruction set.
void expect_equal(ConstTensorView actual, const std::vector<float>& expected) {
  EXPECT_THAT(actual.span<float>(), testing::ElementsAreArray(expected));
}

TEST(DropoutGradientTest, ReferenceIsItsOwnDerivative) {
  const auto x = values_of<double>(random_floats({40}, 1));
  const auto dy = values_of<double>(random_floats({40}, 2));
  expect_gradient([&](auto& at) { return dot(reference::dropout(at, 0.3F, kKey), dy); }, x,
                  reference::dropout(dy, 0.3F, kKey));
}

TEST_P(DropoutTest, IsTheReferenceBitForBit) {
  for (const Shape& shape : {Shape{0}, Shape{1}, Shape{4}, Shape{17}, Shape{3, 5}, Shape{0, 4},
                             Shape{2, 3, 129}, Shape{35'001}}) {
    for (const float rate : {0.0F, 1e-4F, 0.1F, 0.5F, 0.999F}) {
      SCOPED_TRACE(testing::Message() << shape.text() << " rate=" << rate);
      const Tensor x = random_floats(shape, 1);
      expect_equal(dropped(x, rate), reference::dropout(values_of<float>(x), rate, kKey));
    }
  }
}

TEST_P(DropoutTest, RateZeroIsACopy) {
  const Tensor x = random_floats({3, 333}, 1);
  expect_equal(dropped(x, 0), values_of<float>(x));
}

TEST_P(DropoutTest, BackwardIsTheSameCall) {
  // Linear in x, so that the gradient of dy is dy where x was kept, and the loss y * dy is
  // x * dx, whatever was dropped.
  const Tensor x = random_floats({9, 111}, 1, 1, 2);
  const Tensor dy = random_floats({9, 111}, 2, 1, 2);
  const auto y = values_of<double>(dropped(x, 0.4F));
  const auto dx = values_of<double>(dropped(dy, 0.4F));
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i] == 0, dx[i] == 0) << i;
  EXPECT_NEAR(dot(y, values_of<double>(dy)), dot(values_of<double>(x), dx), 1e-3);
}

TEST_P(DropoutTest, MaskFollowsTheShapeNotTheMemory) {
  const Tensor before = random_floats({7, 700}, 1);
  // Rows begin at every place within a block of four, and are longer than the words made at once.
  const Tensor x = copy_to(Device::kCpu, before.view().columns(3, 690));
  const auto expected = reference::dropout(values_of<float>(x), 0.3F, kKey);
  expect_equal(dropped(before.view().columns(3, 690), 0.3F), expected);
  Tensor wide = copy_to(Device::kCpu, before);
  const TensorView part = wide.view().columns(3, 690);
  dropout(context(), part, 0.3F, kKey, part);  // in place
  expect_equal(copy_to(Device::kCpu, part), expected);
  for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{690, 700}}) {
    expect_equal(copy_to(Device::kCpu, wide.view().columns(begin, end)),
                 values_of<float>(copy_to(Device::kCpu, before.view().columns(begin, end))));
  }
}

TEST_P(DropoutTest, DropsAtTheRateAndKeepsTheMean) {
  const int64_t values = 400'000;
  const Tensor ones = random_floats({values}, 1, 1, 1);
  for (const float rate : {0.1F, 0.5F, 0.8F}) {
    const Tensor y = dropped(ones, rate);
    const auto zeros = std::count(y.span<float>().begin(), y.span<float>().end(), 0.0F);
    const double deviation = std::sqrt(values * rate * (1 - rate));
    EXPECT_NEAR(static_cast<double>(zeros), values * rate, 4 * deviation) << rate;
    const auto kept = values_of<double>(y);
    EXPECT_NEAR(dot(kept, values_of<double>(ones)) / values, 1,
                4 * deviation / values / (1 - rate));
  }
}

TEST_P(DropoutTest, EverySeedAndStreamHasItsOwnMask) {
  const int64_t values = 100'000;
  const Tensor ones = random_floats({values}, 1, 1, 1);
  const auto base = values_of<double>(dropped(ones, 0.5F));
  for (const DropoutKey other :
       {DropoutKey{kKey.seed + 1, kKey.stream}, DropoutKey{kKey.seed ^ 1ULL << 40, kKey.stream},
        DropoutKey{kKey.seed, kKey.stream + 1}, DropoutKey{kKey.seed, kKey.stream ^ 1ULL << 40}}) {
    // Independent masks keep a quarter of the values in both; a kept value is 2.
    const double both = dot(base, values_of<double>(dropped(ones, 0.5F, other))) / 4;
    EXPECT_NEAR(both, values / 4.0, 4 * std::sqrt(values * 3.0 / 16));
  }
}

TEST(DropoutThreadsTest, SameBitsAtAnyThreadCount) {
  const Tensor x = random_floats({7, 9999}, 1);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.emplace_back(x.shape(), DType::kFloat32);
    results.emplace_back(Shape{7, 9000}, DType::kFloat32);
    dropout(context, x, 0.2F, kKey, results[0]);
    dropout(context, x.view().columns(7, 9007), 0.2F, kKey, results[1]);
    return results;
  });
}

TEST(DropoutErrorsTest, RefusesWrongShapesAndRates) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor x({4, 8}, DType::kFloat32);
  Tensor y({4, 8}, DType::kFloat32);
  Tensor other({32}, DType::kFloat32);
  using testing::ThrowsMessage;
  EXPECT_THAT([&] { dropout(context, x, 0.5F, kKey, other); },
              ThrowsMessage<InputError>("dropout: y is [32], but x is [4, 8]"));
  EXPECT_THAT(
      [&] { dropout(context, x, 1, kKey, y); },
      ThrowsMessage<InputError>("dropout: the rate of dropout is 1, but must be in [0, 1)"));
  EXPECT_THAT(
      [&] { dropout(context, x, -0.5F, kKey, y); },
      ThrowsMessage<InputError>("dropout: the rate of dropout is -0.5, but must be in [0, 1)"));
  EXPECT_THAT(
      [&] { dropout(context, x, std::nanf(""), kKey, y); },
      ThrowsMessage<InputError>("dropout: the rate of dropout is nan, but must be in [0, 1)"));
}

}  // namespace
}  // namespace elias
