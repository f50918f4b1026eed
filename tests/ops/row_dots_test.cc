#include "ops/lookup/row_dots.h"

#include <gmock/gmock.h>

#include "ops/lookup/gather_dot.h"
#include "ops/rows/convert.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

class RowDotsTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(OnCpu, RowDotsTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

// The rows as they are given to the kernels, and the same as floats.
struct Rows {
  Rows(const Context& context, int64_t L, int64_t D, bool halves)
      : floats(random_floats({L, D}, 1)), bias(random_floats({L}, 2)) {
    if (!halves) return;
    rounded = Tensor({L, D}, DType::kBFloat16);
    convert(context, floats, rounded);
    convert(context, rounded, floats);
  }
  ConstTensorView view() const { return rounded ? rounded : floats; }

  Tensor floats, rounded, bias;
};

TEST_P(RowDotsTest, WithAPointAreThoseOfGatherDotToTheBit) {
  for (const bool halves : {false, true}) {
    for (const int64_t D : {1, 7, 32, 45, 512}) {
      const Rows rows(context(), 50, D, halves);
      const RowDots dots(context().isa(), rows.view(), rows.bias);
      const Tensor x = random_floats({1, D}, 3);
      std::vector<float> point(static_cast<size_t>(D));
      dots.prepare(x.span<float>(), point);
      for (const int64_t K : {0, 1, 3, 4, 9, 33}) {
        SCOPED_TRACE(testing::Message() << "D " << D << " K " << K << (halves ? " bf16" : ""));
        const Tensor ids = random_ids({1, K}, 4, 50);
        Tensor expected({1, K}, DType::kFloat32);
        gather_dot(context(), x, rows.view(), rows.bias, ids, expected);
        std::vector<float> z(static_cast<size_t>(K));
        dots.with_point(point, ids.span<int32_t>(), z);
        EXPECT_TRUE(std::ranges::equal(z, expected.span<float>()));
      }
    }
  }
}

TEST_P(RowDotsTest, BetweenRowsAreThoseOfTheDefinition) {
  for (const bool halves : {false, true}) {
    for (const int64_t D : {1, 7, 32, 45, 130}) {
      const Rows rows(context(), 9, D, halves);
      const RowDots dots(context().isa(), rows.view(), rows.bias);
      const auto w = rows.floats.span<float>();
      const auto b = rows.bias.span<float>();
      for (int32_t i = 0; i < 9; ++i) {
        for (int32_t j = 0; j < 9; ++j) {
          double sum = double{b[i]} * double{b[j]};
          for (int64_t d = 0; d < D; ++d) sum += double{w[i * D + d]} * double{w[j * D + d]};
          ASSERT_NEAR(dots.between(i, j), sum, 1e-5 * static_cast<double>(D)) << "D " << D;
        }
      }
    }
  }
}

TEST(RowDots, RefusesABiasOfOtherRows) {
  const Tensor w = random_floats({5, 4}, 1), bias = random_floats({4}, 2);
  EXPECT_THROW(RowDots(chosen_isa(), w, bias), InputError);
}

}  // namespace
}  // namespace elias
