#include "ops/lookup/top_k.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/top_k_reference.h"

namespace elias {
namespace {

using testing::ThrowsMessage;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The bits of floats, of which a NaN has one value.
std::vector<uint32_t> bits_of(std::span<const float> values) {
  std::vector<uint32_t> bits;
  for (const float value : values) {
    bits.push_back(std::bit_cast<uint32_t>(std::isnan(value) ? kNaN : value));
  }
  return bits;
}

class TopKTest : public OnBackend {
 protected:
  // Compares the k best of scores [N, L] with the reference, for each of the given k up to L.
  void expect_exact(const Tensor& scores, std::initializer_list<int64_t> ks) const {
    const int64_t N = scores.shape()[0];
    const int64_t L = scores.shape()[1];
    std::vector<std::vector<int32_t>> orders;
    for (int64_t n = 0; n < N; ++n) {
      orders.push_back(reference::top_k<float>(scores.span<float>().subspan(n * L, L), L));
    }
    const Tensor scores_here = here(scores);
    for (const int64_t k : ks) {
      if (k < 1 || k > L) continue;
      SCOPED_TRACE(testing::Message() << "scores " << scores.shape().text() << " k=" << k);
      std::vector<int32_t> expected_ids;
      std::vector<float> expected_values;
      for (int64_t n = 0; n < N; ++n) {
        const auto row = scores.span<float>().subspan(n * L, L);
        for (int64_t j = 0; j < k; ++j) {
          expected_ids.push_back(orders[n][j]);
          expected_values.push_back(row[orders[n][j]]);
        }
      }
      Tensor values = zeros({N, k});
      Tensor ids = zeros({N, k}, DType::kInt32);
      top_k(context(), scores_here, values, ids);
      const Tensor ids_back = back(ids);
      const auto found = ids_back.span<int32_t>();
      const auto [actual, expected] = std::ranges::mismatch(found, expected_ids);
      ASSERT_EQ(actual, found.end())
          << "id " << *actual << ", not " << *expected << ", at row "
          << (actual - found.begin()) / k << ", place " << (actual - found.begin()) % k;
      EXPECT_TRUE(bits_of(back(values).span<float>()) == bits_of(expected_values));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, TopKTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST_P(TopKTest, AllSmallRows) {
  const float alphabet[] = {kNaN, -kInfinity, -1.5F, -0.0F, 0.0F, kInfinity};
  for (const int64_t L : {1, 2, 3, 5}) {
    int64_t N = 1;
    for (int64_t i = 0; i < L; ++i) N *= std::ssize(alphabet);
    Tensor scores({N, L}, DType::kFloat32);
    for (int64_t n = 0; n < N; ++n) {
      int64_t rest = n;
      for (int64_t i = 0; i < L; ++i, rest /= std::ssize(alphabet)) {
        scores.span<float>()[n * L + i] = alphabet[rest % std::ssize(alphabet)];
      }
    }
    expect_exact(scores, {1, 2, 3, 4, 5});
  }
}

// Score i of a row of L, given a random number in [0, 1).
using Row = std::function<float(int64_t i, int64_t L, float random)>;

const std::pair<std::string, Row> kRows[] = {
    {"random", [](auto, auto, float random) { return random - 0.5F; }},
    {"few values", [](auto, auto, float random) { return std::floor(random * 5); }},
    {"one value", [](auto, auto, auto) { return 3.0F; }},
    {"rising", [](auto i, auto, auto) { return static_cast<float>(i); }},
    {"falling", [](auto i, auto, auto) { return static_cast<float>(-i); }},
    {"rising in steps", [](auto i, auto, auto) { return static_cast<float>(i / 7); }},
    {"NaN", [](auto, auto, auto) { return kNaN; }},
    {"-infinity", [](auto, auto, auto) { return -kInfinity; }},
    {"infinity, rarely", [](auto, auto, float r) { return r < 0.01F ? kInfinity : r; }},
    {"numbers, rarely", [](auto i, auto, float r) { return i % 311 == 310 ? r : -kInfinity; }},
    {"NaN and -infinity", [](auto, auto, float r) { return r < 0.7F ? kNaN : -kInfinity; }},
    {"NaN, then numbers", [](auto i, auto L, float r) { return i < L - 150 ? kNaN : r; }},
    {"NaN, then -infinity", [](auto i, auto L, auto) { return i < L / 2 ? kNaN : -kInfinity; }},
    {"half NaN", [](auto, auto, float random) { return random < 0.5F ? kNaN : random; }},
    {"zeros of both signs", [](auto, auto, float r) { return r < 0.5F ? 0.0F : -0.0F; }},
};

TEST_P(TopKTest, RowsOfAllKinds) {
  for (const auto& [name, row] : kRows) {
    SCOPED_TRACE(name);
    for (const int64_t L : {1, 7, 100, 513, 1500, 8000, 20011}) {
      Tensor scores = random_floats({2, L}, L, 0, 1);
      for (int64_t i = 0; i < 2 * L; ++i) {
        float& score = scores.span<float>()[i];
        score = row(i % L, L, score);
      }
      expect_exact(scores, {1, 2, 5, 100, L / 3, L - 1, L});
    }
  }
}

TEST_P(TopKTest, ManyRandomRows) {
  for (const int64_t N : {0, 1, 100}) {
    for (const int64_t L : {10, 300, 2000}) {
      expect_exact(random_floats({N, L}, L), {1, 5, 10});
    }
  }
}

TEST_P(TopKTest, WorksOnViews) {
  const Tensor wide = random_floats({4, 500}, 1);
  const Tensor dense = copy_to(Device::kCpu, wide.view().columns(30, 430));
  const Tensor wide_here = here(wide);
  Tensor values = zeros({4, 9});
  Tensor ids = zeros({4, 8}, DType::kInt32);
  top_k(context(), wide_here.view().columns(30, 430), values.view().columns(1, 7),
        ids.view().columns(2, 8));
  const Tensor found = back(ids.view().columns(2, 8));
  const Tensor found_values = back(values);
  for (int64_t n = 0; n < 4; ++n) {
    const auto row = dense.span<float>().subspan(n * 400, 400);
    const auto expected = reference::top_k<float>(row, 6);
    EXPECT_THAT(found.span<int32_t>().subspan(n * 6, 6), testing::ElementsAreArray(expected));
    const auto all = found_values.span<float>().subspan(n * 9, 9);
    for (int64_t j = 0; j < 6; ++j) EXPECT_EQ(all[1 + j], row[expected[j]]);
    // What is beside the view is left alone.
    EXPECT_EQ(all[0], 0);
    EXPECT_EQ(all[7], 0);
  }
}

TEST(TopKThreadsTest, SameBitsAtAnyThreadCount) {
  // Many rows, and few rows so long that they are cut; values that often tie.
  for (const auto& [N, L] : {std::pair<int64_t, int64_t>{300, 700}, {2, 600000}}) {
    Tensor scores = random_floats({N, L}, 1, 0, 3000);
    for (float& score : scores.span<float>()) score = std::floor(score);
    const int64_t k = 120;
    std::vector<int32_t> expected;
    for (int64_t n = 0; n < N; ++n) {
      const auto row = reference::top_k<float>(scores.span<float>().subspan(n * L, L), k);
      expected.insert(expected.end(), row.begin(), row.end());
    }
    expect_same_bits_at_any_thread_count([&, N = N](const Context& context) {
      std::vector<Tensor> results;
      results.emplace_back(Shape{N, k}, DType::kFloat32);
      results.emplace_back(Shape{N, k}, DType::kInt32);
      top_k(context, scores, results[0], results[1]);
      EXPECT_TRUE(std::ranges::equal(results[1].span<int32_t>(), expected));
      return results;
    });
  }
}

TEST(TopKErrorsTest, RefusesWrongShapesWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor scores({2, 5}, DType::kFloat32);
  Tensor values({2, 6}, DType::kFloat32);
  Tensor ids({2, 6}, DType::kInt32);
  EXPECT_THAT([&] { top_k(context, scores, values, ids); },
              ThrowsMessage<InputError>("top k: k is 6, but must be in [1, 5]"));
  EXPECT_THAT([&] { top_k(context, scores, values.view().columns(0, 0), ids); },
              ThrowsMessage<InputError>("top k: ids is [2, 6], but must be [2, 0]"));
  EXPECT_THAT(
      [&] { top_k(context, scores, values.view().columns(0, 0), ids.view().columns(0, 0)); },
      ThrowsMessage<InputError>("top k: k is 0, but must be in [1, 5]"));
}

}  // namespace
}  // namespace elias
