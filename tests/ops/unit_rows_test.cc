#include "ops/rows/unit_rows.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/unit_rows_reference.h"

namespace elias {
namespace {

class UnitRowsTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, UnitRowsTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST(UnitRowsGradientTest, ReferenceIsTheDerivative) {
  const size_t D = 5;
  const auto x = values_of<double>(random_floats({3, D}, 1));
  const auto dy = values_of<double>(random_floats({3, D}, 2));
  expect_gradient([&](auto& at) { return dot(reference::unit_rows(at, D).y, dy); }, x,
                  reference::unit_rows_backward(dy, reference::unit_rows(x, D), D));
}

TEST_P(UnitRowsTest, ForwardAndBackwardMatchReference) {
  for (const int64_t N : {0, 1, 7, 100}) {
    for (const int64_t D : {1, 3, 16, 33, 257, 768}) {
      SCOPED_TRACE(testing::Message() << "N=" << N << " D=" << D);
      const Tensor x = random_floats({N, D}, 1), dy = random_floats({N, D}, 2);
      const auto width = static_cast<size_t>(D);
      const auto forward = reference::unit_rows(values_of<double>(x), width);
      Tensor y({N, D}, DType::kFloat32), lengths({N}, DType::kFloat32);
      unit_rows(context(), x, y, lengths);
      expect_near(y, forward.y, 1e-6);
      expect_near(lengths, forward.lengths, 1e-6);
      Tensor dx({N, D}, DType::kFloat32);
      unit_rows_backward(context(), dy, y, lengths, dx);
      expect_near(dx, reference::unit_rows_backward(values_of<double>(dy), forward, width), 1e-5);
      Tensor in_place = copy_to(Device::kCpu, x);
      unit_rows(context(), in_place, in_place, lengths);
      expect_near(in_place, values_of<double>(y), 0);
    }
  }
}

TEST_P(UnitRowsTest, ZerosStayAndTeachNothing) {
  const Tensor x({2, 9}, DType::kFloat32), dy = random_floats({2, 9}, 3);
  Tensor y = random_floats({2, 9}, 4), lengths = random_floats({2}, 5),
         dx = random_floats({2, 9}, 6);
  unit_rows(context(), x, y, lengths);
  EXPECT_THAT(y.span<float>(), testing::Each(0));
  EXPECT_THAT(lengths.span<float>(), testing::Each(0));
  unit_rows_backward(context(), dy, y, lengths, dx);
  EXPECT_THAT(dx.span<float>(), testing::Each(0));
}

// Squares of these are no floats.
TEST_P(UnitRowsTest, TinyAndHugeRowsHaveUnitLengthToo) {
  for (const float size : {1e-30F, 1e30F}) {
    const Tensor x = tensor_of<float>({1, 2}, {3 * size, -4 * size});
    Tensor y({1, 2}, DType::kFloat32), lengths({1}, DType::kFloat32);
    unit_rows(context(), x, y, lengths);
    EXPECT_NEAR(y.span<float>()[0], 0.6, 1e-6);
    EXPECT_NEAR(y.span<float>()[1], -0.8, 1e-6);
    EXPECT_NEAR(lengths.span<float>()[0] / size, 5, 1e-5);
  }
}

TEST(UnitRowsThreadsTest, SameBitsAtAnyThreadCount) {
  const Tensor x = random_floats({300, 70}, 1), dy = random_floats({300, 70}, 2);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.emplace_back(Shape{300, 70}, DType::kFloat32);
    results.emplace_back(Shape{300}, DType::kFloat32);
    results.emplace_back(Shape{300, 70}, DType::kFloat32);
    unit_rows(context, x, results[0], results[1]);
    unit_rows_backward(context, dy, results[0], results[1], results[2]);
    return results;
  });
}

TEST(UnitRowsErrorsTest, RefusesWrongShapesWithTheNumbers) {
  ThreadPool pool(1);
  const Tensor x({4, 8}, DType::kFloat32);
  Tensor y({4, 8}, DType::kFloat32), lengths({3}, DType::kFloat32);
  EXPECT_THAT([&] { unit_rows(Context(pool), x, y, lengths); },
              testing::ThrowsMessage<InputError>("unit rows: lengths is [3], but must be [4]"));
}

}  // namespace
}  // namespace elias
