// Operators that read rows of bfloat16: what they say of them must be what they say of the same
// values in float32; to the last bit, where the order of additions is promised.
#include <gtest/gtest.h>

#include "ops/lookup/gather_dot.h"
#include "ops/rows/convert.h"
#include "ops/update/adamw.h"
#include "ops/update/sgd.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_updates.h"

namespace elias {
namespace {

constexpr int64_t kPoints = 30, kPlaces = 21, kRows = 12;

class HalvesTest : public OnBackend {
 protected:
  // The same values twice, with a gap between rows.
  struct Both {
    Both(const Context& context, int64_t rows, int64_t D, uint64_t seed)
        : halves_room({rows, D + 5}, DType::kBFloat16),
          floats_room({rows, D + 5}, DType::kFloat32) {
      const Tensor exact = random_floats({rows, D + 5}, seed);
      convert(context, exact, halves_room);
      convert(context, halves_room, floats_room);
      halves = halves_room.view().columns(2, D + 2);
      floats = floats_room.view().columns(2, D + 2);
    }
    Tensor halves_room, floats_room;
    ConstTensorView halves, floats;
  };

  static void expect_same(ConstTensorView actual, ConstTensorView expected) {
    expect_near(actual, values_of<double>(expected), 0);
  }
};
INSTANTIATE_TEST_SUITE_P(OnCpu, HalvesTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

constexpr int64_t kWidths[] = {1, 3, 16, 33, 64, 300};

TEST_P(HalvesTest, ScoresAndInputGradients) {
  for (const int64_t D : kWidths) {
    const Both w(context(), kRows, D, 1);
    const Tensor x = random_floats({kPoints, D}, 2);
    const Tensor ids = random_ids({kPoints, kPlaces}, 3, kRows);
    const Tensor dz = random_floats({kPoints, kPlaces}, 4);
    const auto both = [&](ConstTensorView weights) {
      std::pair results(Tensor({kPoints, kPlaces}, DType::kFloat32),
                        Tensor({kPoints, D}, DType::kFloat32));
      gather_dot(context(), x, weights, {}, ids, results.first);
      gather_dot_input_gradient(context(), dz, weights, ids, results.second);
      return results;
    };
    const auto actual = both(w.halves);
    const auto expected = both(w.floats);
    expect_near(actual.first, values_of<double>(expected.first), 1e-5);
    expect_same(actual.second, expected.second);
  }
}

TEST_P(HalvesTest, RowGradientsAndTheirSteps) {
  for (const int64_t D : kWidths) {
    const Both x(context(), kPoints, D, 1);
    const Tensor ids = random_ids({kPoints, kPlaces}, 3, kRows);
    const Tensor dz = random_floats({kPoints, kPlaces}, 4);
    const auto results = [&](ConstTensorView source) {
      const RowGradient gradient = gather_dot_weight_gradient(context(), dz, source, ids, kRows);
      std::vector<Tensor> all;
      all.emplace_back(Shape{gradient.size(), D}, DType::kFloat32);
      expand_rows(context(), gradient, all[0]);
      const RateHistory rates(std::vector<float>{0.1F});
      for (int i = 0; i < 4; ++i) all.push_back(random_floats({kRows, D}, 5));
      for (float& value : all[3].span<float>()) value = std::abs(value);
      Tensor done({kRows}, DType::kInt32);
      adamw_rows(context(), {}, rates, gradient, {all[1], all[2], all[3]}, done);
      Tensor done_too({kRows}, DType::kInt32);
      sgd_rows(context(), {}, rates, gradient, {all[4], {}}, done_too);
      return all;
    };
    const auto actual = results(x.halves);
    const auto expected = results(x.floats);
    for (size_t i = 0; i < actual.size(); ++i) expect_same(actual[i], expected[i]);
  }
}

TEST_P(HalvesTest, RowsConvertedByThemselves) {
  const Tensor x = random_floats({5, 37}, 1);
  Tensor all({5, 37}, DType::kBFloat16);
  convert(context(), x, all);
  Tensor some({5, 40}, DType::kBFloat16);
  const TensorView y = some.view().columns(1, 38);
  convert_rows(context(), x, ids_of({1, 4}), y);
  for (int64_t row = 0; row < 5; ++row) {
    for (int64_t i = 0; i < 37; ++i) {
      const uint16_t expected =
          row == 1 || row == 4 ? all.span<BFloat16>()[row * 37 + i].bits : uint16_t{0};
      ASSERT_EQ(some.span<BFloat16>()[row * 40 + 1 + i].bits, expected) << row << ", " << i;
    }
  }
}

}  // namespace
}  // namespace elias
