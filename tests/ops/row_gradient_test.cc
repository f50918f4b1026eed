#include "ops/lookup/row_gradient.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradient_reference.h"

namespace elias {
namespace {

using testing::ThrowsMessage;

// R rows of W of 0 to 2 * `most` terms, from random rows of source [N, D].
RowGradient random_gradient(int64_t R, int32_t most, ConstTensorView source) {
  RowGradient gradient;
  gradient.rows = Tensor({R}, DType::kInt32);
  gradient.offsets = Tensor({R + 1}, DType::kInt32);
  RandomSequence random(5, 0);
  for (int64_t r = 0; r < R; ++r) {
    gradient.rows.span<int32_t>()[r] = static_cast<int32_t>(2 * r);
    gradient.offsets.span<int32_t>()[r + 1] =
        gradient.offsets.span<int32_t>()[r] + static_cast<int32_t>(random.below(2 * most + 1));
  }
  const int64_t n = gradient.offsets.span<int32_t>()[R];
  gradient.points = random_ids({n}, 6, static_cast<int32_t>(source.shape()[0]));
  gradient.weights = random_floats({n}, 7);
  gradient.source = source;
  return gradient;
}

RowGradient moved_to(Device device, const RowGradient& gradient, ConstTensorView source) {
  return {copy_to(device, gradient.rows), copy_to(device, gradient.offsets),
          copy_to(device, gradient.points), copy_to(device, gradient.weights), source};
}

// The entries of dense [V, D] that the gradient's rows are.
std::vector<double> rows_of(const RowGradient& gradient, const std::vector<double>& dense,
                            int64_t D) {
  std::vector<double> rows;
  for (const int32_t row : gradient.rows.span<int32_t>()) {
    rows.insert(rows.end(), dense.begin() + row * D, dense.begin() + (row + 1) * D);
  }
  return rows;
}

TEST(GradientOfRows, IsTheRowsThemselves) {
  ThreadPool pool(1);
  const Tensor values = random_floats({3, 5}, 1);
  const std::vector<int32_t> rows = {2, 3, 9};
  const RowGradient gradient = gradient_of_rows(rows, values);
  EXPECT_THAT(gradient.rows.span<int32_t>(), testing::ElementsAreArray(rows));
  Tensor expanded({3, 5}, DType::kFloat32);
  expand_rows(Context(pool), gradient, expanded);
  EXPECT_THAT(expanded.span<float>(), testing::ElementsAreArray(values.span<float>()));
  EXPECT_THROW(gradient_of_rows(std::vector<int32_t>{1, 2}, values), InputError);
}

class RowGradientTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, RowGradientTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST_P(RowGradientTest, RowsAndWeightsMatchReference) {
  for (const int64_t R : {0, 1, 40}) {
    for (const int64_t D : {1, 3, 16, 33, 257, 300, 768}) {
      SCOPED_TRACE(testing::Message() << "R=" << R << " D=" << D);
      const Tensor source = random_floats({9, D}, 1);
      const RowGradient gradient = random_gradient(R, 4, source);
      const auto values = reference::dense<double>(gradient, 2 * R);
      const auto sums = reference::dense_weights<double>(gradient, 2 * R);

      const Tensor source_here = here(source);
      const RowGradient gradient_here = moved_to(device(), gradient, source_here);
      Tensor values_here = here(random_floats({R, D}, 9));  // what was there does not show
      expand_rows(context(), gradient_here, values_here);
      expect_near(back(values_here), rows_of(gradient, values, D), 1e-5);
      Tensor sums_here = here(random_floats({R}, 9));
      sum_row_weights(context(), gradient_here, sums_here);
      expect_near(back(sums_here), rows_of(gradient, sums, 1), 1e-5);
    }
  }
}

TEST_P(RowGradientTest, WorksOnViews) {
  const Tensor wide = random_floats({9, 60}, 1);
  const RowGradient gradient = random_gradient(10, 3, wide.view().columns(5, 45));
  const auto expected = rows_of(gradient, reference::dense<double>(gradient, 20), 40);
  const Tensor wide_here = here(wide);
  Tensor values = zeros({10, 50});
  expand_rows(context(), moved_to(device(), gradient, wide_here.view().columns(5, 45)),
              values.view().columns(3, 43));
  expect_near(back(values.view().columns(3, 43)), expected, 1e-5);
  // What is beside the view is left alone.
  expect_near(back(values.view().columns(0, 3)), std::vector<double>(30), 0);
  expect_near(back(values.view().columns(43, 50)), std::vector<double>(70), 0);
}

TEST(RowGradientThreadsTest, SameBitsAtAnyThreadCount) {
  const Tensor source = random_floats({100, 70}, 1);
  const RowGradient gradient = random_gradient(500, 20, source);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.emplace_back(Shape{500, 70}, DType::kFloat32);
    results.emplace_back(Shape{500}, DType::kFloat32);
    expand_rows(context, gradient, results[0]);
    sum_row_weights(context, gradient, results[1]);
    return results;
  });
}

TEST(RowGradientErrorsTest, RefusesWhatDoesNotFitWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor source = random_floats({9, 5}, 1);
  RowGradient gradient = random_gradient(3, 4, source);
  Tensor values({3, 4}, DType::kFloat32);
  EXPECT_THAT([&] { expand_rows(context, gradient, values); },
              ThrowsMessage<InputError>("expand rows: values is [3, 4], but must be [3, 5]"));
  Tensor sums({2}, DType::kFloat32);
  EXPECT_THAT([&] { sum_row_weights(context, gradient, sums); },
              ThrowsMessage<InputError>("sum row weights: sums is [2], but must be [3]"));

  Tensor good({3, 5}, DType::kFloat32);
  gradient.offsets = tensor_of<int32_t>({4}, {0, 2, 1, 3});
  gradient.points = tensor_of<int32_t>({3}, {0, 1, 9});
  gradient.weights = random_floats({3}, 1);
  EXPECT_THAT(
      [&] { expand_rows(context, gradient, good); },
      ThrowsMessage<InputError>("expand rows: offsets fall from 2 to 1 at 2, but must rise"));
  gradient.offsets = tensor_of<int32_t>({4}, {0, 1, 2, 4});
  EXPECT_THAT(
      [&] { expand_rows(context, gradient, good); },
      ThrowsMessage<InputError>("expand rows: offsets run from 0 to 4, but must from 0 to 3"));
  gradient.offsets = tensor_of<int32_t>({4}, {0, 1, 2, 3});
  EXPECT_THAT([&] { expand_rows(context, gradient, good); },
              ThrowsMessage<InputError>(
                  "expand rows: points holds 9 at row 0, column 2, but must be in [0, 9)"));
}

}  // namespace
}  // namespace elias
