#include "ops/rows/convert.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

class ConvertTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, ConvertTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST_P(ConvertTest, EqualsTheConversionOfOneValue) {
  for (const Shape& shape : {Shape{0, 3}, Shape{1}, Shape{5, 7}, Shape{3, 100}}) {
    Tensor x = random_floats(shape, 1, -1e6F, 1e6F);
    if (shape.elements() > 4) {
      x.span<float>()[0] = std::numeric_limits<float>::infinity();
      x.span<float>()[1] = std::nanf("");
      x.span<float>()[2] = -0.0F;
      x.span<float>()[3] = std::numeric_limits<float>::max();
    }
    Tensor y = zeros(shape, DType::kBFloat16);
    convert(context(), here(x), y);
    Tensor z = zeros(shape);
    convert(context(), y, z);
    const Tensor result = back(z);
    for (size_t i = 0; i < result.span<float>().size(); ++i) {
      const float expected = to_float(to_bfloat16(x.span<float>()[i]));
      const float actual = result.span<float>()[i];
      EXPECT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected))) << i;
    }
  }
}

TEST_P(ConvertTest, WorksOnViews) {
  const Tensor x = here(random_floats({4, 20}, 1));
  Tensor y = zeros({4, 10}, DType::kBFloat16);
  Tensor z = zeros({4, 5});
  convert(context(), x.view().columns(3, 8), y.view().columns(1, 6));
  convert(context(), y.view().columns(1, 6), z);
  const Tensor original = back(x.view().columns(3, 8));
  expect_near(back(z), values_of<double>(original), 4e-3);
}

TEST(ConvertThreadsTest, SameBitsAtAnyThreadCount) {
  const Tensor x = random_floats({1000, 33}, 1);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.emplace_back(x.shape(), DType::kBFloat16);
    results.emplace_back(x.shape(), DType::kFloat32);
    convert(context, x, results[0]);
    convert(context, results[0], results[1]);
    return results;
  });
}

TEST(ConvertErrorsTest, RefusesOtherTypesAndShapes) {
  using testing::ThrowsMessage;
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor x({2, 3}, DType::kFloat32);
  Tensor same({2, 3}, DType::kFloat32);
  Tensor other({3, 2}, DType::kBFloat16);
  EXPECT_THAT([&] { convert(context, x, same); },
              ThrowsMessage<InputError>("convert: x is float32 and y is float32, but one must be "
                                        "float32 and the other bfloat16"));
  EXPECT_THAT([&] { convert(context, x, other); },
              ThrowsMessage<InputError>("convert: x is [2, 3] on CPU, but y is [3, 2] on CPU"));
}

}  // namespace
}  // namespace elias
