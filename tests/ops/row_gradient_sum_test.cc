#include "ops/lookup/row_gradient_sum.h"

#include <gtest/gtest.h>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradients.h"

namespace elias {
namespace {

// Rows 1, 4 and 6 of 9, with 2, 0 and 3 terms.
RowGradient small_gradient(ConstTensorView source) {
  return {.rows = tensor_of<int32_t>({3}, {1, 4, 6}),
          .offsets = tensor_of<int32_t>({4}, {0, 2, 2, 5}),
          .points = tensor_of<int32_t>({5}, {0, 3, 1, 2, 3}),
          .weights = tensor_of<float>({5}, {0.5F, -1, 2, 0.25F, 1}),
          .source = source};
}

TEST(RowGradientSum, IsBothTogether) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor source = random_floats({4, 5}, 1), values = random_floats({4, 5}, 2);
  const RowGradient gradient = small_gradient(source);
  // Before, at, between and behind the gradient's rows.
  const std::vector<int32_t> rows = {0, 4, 6, 8};
  const RowGradientSum sum(context, gradient, rows, values);
  std::vector<double> wanted = values_of<double>(dense_on_cpu(gradient, 9));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t d = 0; d < 5; ++d) {
      wanted[static_cast<size_t>(rows[i]) * 5 + d] += double{values.span<float>()[i * 5 + d]};
    }
  }
  EXPECT_EQ(sum.gradient().size(), 5);
  expect_near(dense_on_cpu(sum.gradient(), 9), wanted, 1e-6);
}

TEST(RowGradientSum, ValuesAreRoundedAsTheSourceIs) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor floats = random_floats({4, 5}, 1), values = random_floats({1, 5}, 2);
  Tensor source({4, 5}, DType::kBFloat16);
  std::ranges::transform(floats.span<float>(), source.span<BFloat16>().begin(),
                         [](float value) { return to_bfloat16(value); });
  const RowGradient gradient = small_gradient(source);
  const std::vector<int32_t> rows = {2};
  const Tensor dense = dense_on_cpu(RowGradientSum(context, gradient, rows, values).gradient(), 9);
  for (size_t d = 0; d < 5; ++d) {
    EXPECT_EQ(dense.span<float>()[10 + d], to_float(to_bfloat16(values.span<float>()[d])));
  }
}

TEST(RowGradientSum, WithoutRowsItIsTheGradientItself) {
  ThreadPool pool(1);
  const Tensor source = random_floats({4, 5}, 1), none({0, 5}, DType::kFloat32);
  const RowGradient gradient = small_gradient(source);
  const RowGradientSum sum(Context(pool), gradient, {}, none);
  EXPECT_EQ(&sum.gradient(), &gradient);
}

}  // namespace
}  // namespace elias
