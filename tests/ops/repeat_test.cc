// The same inputs give the same bits again, on the GPU too: what sums over many rows is asked
// twice.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "ops/product/linear.h"
#include "ops/rows/layer_norm.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

class RepeatTest : public OnBackend {
 protected:
  // Calls sum(total), which adds to a tensor of that shape, several times from zero.
  void expect_same_bits(Shape shape, const std::function<void(TensorView total)>& sum) const {
    Tensor first;
    for (int run = 0; run < 4; ++run) {
      Tensor total = zeros(shape);
      sum(total);
      Tensor result = back(total);
      if (run == 0) {
        first = std::move(result);
        continue;
      }
      ASSERT_EQ(std::memcmp(first.view().bytes(), result.view().bytes(),
                            shape.elements() * sizeof(float)),
                0)
          << "run " << run;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, RepeatTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST_P(RepeatTest, SumsOverRows) {
  const int64_t N = 5003;
  const int64_t D = 96;
  const int64_t O = 72;
  const Tensor x = here(random_floats({N, D}, 1));
  const Tensor dy = here(random_floats({N, O}, 2));
  const Tensor dx = here(random_floats({N, D}, 3));
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    expect_same_bits(
        {O, D}, [&](TensorView dw) { linear_weight_gradient(context(), dy, x, precision, dw); });
  }
  expect_same_bits({O}, [&](TensorView db) { linear_bias_gradient(context(), dy, db); });

  const Tensor gain = here(random_floats({D}, 4));
  Tensor y = zeros({N, D});
  Tensor mean = zeros({N});
  Tensor inverse = zeros({N});
  layer_norm(context(), x, gain, gain, 1e-5F, y, {mean, inverse});
  expect_same_bits({2, D}, [&](TensorView sums) {
    layer_norm_backward(context(), dx, x, gain, {mean, inverse}, y, sums.slice(0, 1).reshaped({D}),
                        sums.slice(1, 2).reshaped({D}));
  });
}

}  // namespace
}  // namespace elias
