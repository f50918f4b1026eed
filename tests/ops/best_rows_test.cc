#include "ops/lookup/best_rows.h"

#include <gmock/gmock.h>

#include <limits>

#include "ops/rows/convert.h"
#include "tests/ops/backends.h"
#include "tests/ops/best_rows_reference.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Found {
  Tensor values, ids;
};

Found best(const Context& context, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
           int64_t k, std::span<const uint8_t> allowed = {}) {
  Found found{Tensor({x.rows(), k}, DType::kFloat32), Tensor({x.rows(), k}, DType::kInt32)};
  std::ranges::fill(found.values.span<float>(), -7.0F);  // every place is written
  std::ranges::fill(found.ids.span<int32_t>(), -7);
  best_rows(context, x, w, bias, allowed, found.values, found.ids);
  return found;
}

// Multiples of 1/8 in [-2, 2]: their sums of products are exact, and many are equal.
Tensor coarse(Shape shape, uint64_t seed) {
  Tensor tensor = random_floats(shape, seed, -16, 16);
  for (float& value : tensor.span<float>()) value = std::round(value) / 8;
  return tensor;
}

Tensor rounded(const Context& context, const Tensor& floats) {
  Tensor halves(floats.shape(), DType::kBFloat16);
  convert(context, floats, halves);
  return halves;
}

class BestRowsTest : public OnBackend {
 protected:
  void expect_exact(const Tensor& x, ConstTensorView w, ConstTensorView bias, int64_t k,
                    std::span<const uint8_t> allowed = {}) const {
    const Found found = best(context(), x, w, bias, k, allowed);
    for (int64_t point = 0; point < x.shape()[0]; ++point) {
      const auto expected = reference::best_rows(x, point, w, bias, allowed);
      for (int64_t place = 0; place < k; ++place) {
        const auto at = static_cast<size_t>(point * k + place);
        const bool filled = static_cast<size_t>(place) < expected.size();
        ASSERT_EQ(found.ids.span<int32_t>()[at], filled ? expected[place].second : -1)
            << "point " << point << ", place " << place << " of " << k;
        ASSERT_EQ(found.values.span<float>()[at],
                  filled ? static_cast<float>(expected[place].first) : -kInfinity);
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, BestRowsTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(BestRowsTest, AreThoseOfTheReferenceAtAnyShape) {
  for (const int64_t N : {1, 5, 33, 70}) {
    for (const int64_t D : {1, 8, 32, 45}) {
      for (const int64_t L : {1, 13, 32, 129, 300}) {
        const Tensor x = coarse({N, D}, 1), w = coarse({L, D}, 2), bias = coarse({L}, 3);
        for (const int64_t k : {int64_t{1}, std::min<int64_t>(10, L), L}) {
          SCOPED_TRACE(testing::Message() << "N " << N << " D " << D << " L " << L);
          expect_exact(x, w, bias, k);
          expect_exact(x, rounded(context(), w), {}, k);
        }
      }
    }
  }
}

// More rows than a chunk: what one thread found is merged with what another did.
TEST_P(BestRowsTest, ManyRowsGoByChunks) {
  const Tensor x = coarse({3, 4}, 4), w = coarse({9001, 4}, 5), bias = coarse({9001}, 6);
  expect_exact(x, w, bias, 100);
  expect_exact(x, rounded(context(), w), bias, 1);
}

TEST_P(BestRowsTest, RoundedPointsAreThoseOfTheContract) {
  const Tensor x = random_floats({6, 96}, 7), w = random_floats({500, 96}, 8);
  const Tensor halves = rounded(context(), w);
  const Found found = best(context(), x, halves, {}, 20);
  for (int64_t point = 0; point < 6; ++point) {
    const auto expected = reference::best_rows(x, point, halves, {}, {});
    for (size_t place = 0; place < 20; ++place) {
      ASSERT_NEAR(found.values.span<float>()[static_cast<size_t>(point) * 20 + place],
                  expected[place].first, 1e-5);
    }
  }
}

TEST_P(BestRowsTest, RowsThatAreNotAllowedAreNotFound) {
  const Tensor x = coarse({9, 16}, 9), w = coarse({700, 16}, 10), bias = coarse({700}, 11);
  std::vector<uint8_t> allowed(700, 0);
  for (size_t row = 0; row < allowed.size(); row += 40) allowed[row] = 1;
  expect_exact(x, w, bias, 5, allowed);
  expect_exact(x, w, bias, 30, allowed);  // 18 are allowed
}

TEST_P(BestRowsTest, AViewOfWiderRowsIsReadByItsStride) {
  const Tensor x = coarse({4, 8}, 12), wide = coarse({50, 24}, 13);
  const ConstTensorView w = ConstTensorView(wide).columns(8, 16);
  expect_exact(x, w, {}, 7);
}

TEST_P(BestRowsTest, EqualValuesComeByTheirIds) {
  const Tensor x = coarse({2, 4}, 14);
  Tensor w({5000, 4}, DType::kFloat32);  // all 0
  const Found found = best(context(), x, w, {}, 3);
  EXPECT_THAT(found.ids.span<int32_t>(), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(found.values.span<float>(), Each(0.0F));
}

TEST_P(BestRowsTest, ANaNIsPassedOverAndInfinitiesAreNot) {
  const Tensor x = tensor_of<float>({1, 1}, {1});
  const float kNaN = std::numeric_limits<float>::quiet_NaN();
  const Tensor w = tensor_of<float>({5, 1}, {kNaN, -kInfinity, 3, kInfinity, kNaN});
  const Found found = best(context(), x, w, {}, 5);
  EXPECT_THAT(found.ids.span<int32_t>(), ElementsAre(3, 2, 1, -1, -1));
}

TEST_P(BestRowsTest, NoPointsAreNoWork) {
  best(context(), Tensor({0, 4}, DType::kFloat32), coarse({5, 4}, 1), {}, 2);
}

TEST(BestRows, SameBitsAtAnyThreadCountAndForAPointAlone) {
  const Tensor x = random_floats({40, 64}, 15), w = random_floats({9000, 64}, 16);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    const Tensor halves = rounded(context, w);
    Found plain = best(context, x, w, {}, 50), small = best(context, x, halves, {}, 50);
    for (const int64_t count : {1, 3, 5}) {  // few points are multiplied in another way
      const Found few = best(context, x.view().slice(7, 7 + count), halves, {}, 50);
      const Found exact = best(context, x.view().slice(7, 7 + count), w, {}, 50);
      for (size_t place = 0; place < 50; ++place) {
        EXPECT_EQ(few.ids.span<int32_t>()[place], small.ids.span<int32_t>()[7 * 50 + place]);
        EXPECT_EQ(few.values.span<float>()[place], small.values.span<float>()[7 * 50 + place]);
        EXPECT_EQ(exact.values.span<float>()[place], plain.values.span<float>()[7 * 50 + place]);
      }
    }
    std::vector<Tensor> results;
    for (Found* found : {&plain, &small}) {
      results.push_back(std::move(found->values));
      results.push_back(std::move(found->ids));
    }
    return results;
  });
}

TEST(BestRows, RefusesWhatDoesNotFit) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor x = coarse({2, 4}, 1), w = coarse({5, 4}, 2);
  EXPECT_THROW(best(context, x, coarse({5, 3}, 2), {}, 1), InputError);
  EXPECT_THROW(best(context, x, w, coarse({4}, 2), 1), InputError);
  EXPECT_THROW(best(context, x, w, {}, 6), InputError);
}

}  // namespace
}  // namespace elias
