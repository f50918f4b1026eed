// Rows of every length at which a back end goes about them in another way: the GPU has a row in a
// warp, in a block, or in neither's registers.
#include <gtest/gtest.h>

#include "ops/lookup/gather_dot.h"
#include "ops/lookup/top_k.h"
#include "ops/rows/layer_norm.h"
#include "ops/rows/softmax_clamp.h"
#include "tests/ops/backends.h"
#include "tests/ops/gather_dot_reference.h"
#include "tests/ops/layer_norm_reference.h"
#include "tests/ops/numbers.h"
#include "tests/ops/softmax_clamp_reference.h"
#include "tests/ops/top_k_reference.h"

namespace elias {
namespace {

// Whole vectors of four, except the last two.
const int64_t kWidths[] = {256, 260, 516, 1000, 1024, 2048, 6000, 9000, 20000, 1025, 6001};
constexpr int64_t kRows = 19;

class LongRowsTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, LongRowsTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST_P(LongRowsTest, LayerNorm) {
  for (const int64_t D : kWidths) {
    SCOPED_TRACE(testing::Message() << "D=" << D);
    const Tensor x = random_floats({kRows, D}, 1, 3, 5);
    const Tensor gain = random_floats({D}, 2);
    const Tensor bias = random_floats({D}, 3);
    const Tensor dy = random_floats({kRows, D}, 4);
    const auto forward = reference::layer_norm(values_of<double>(x), values_of<double>(gain),
                                               values_of<double>(bias), 1e-5);
    const auto gradient =
        reference::layer_norm_backward(values_of<double>(dy), forward, values_of<double>(gain));
    const Tensor x_here = here(x);
    const Tensor gain_here = here(gain);
    Tensor y = zeros({kRows, D});
    Tensor mean = zeros({kRows});
    Tensor inverse = zeros({kRows});
    layer_norm(context(), x_here, gain_here, here(bias), 1e-5F, y, {mean, inverse});
    expect_near(back(y), forward.y, 3e-5);
    Tensor dgain = zeros({D});
    Tensor dbias = zeros({D});
    layer_norm_backward(context(), here(dy), x_here, gain_here, {mean, inverse}, y, dgain, dbias);
    expect_near(back(y), gradient.dx, 3e-5);
    expect_near(back(dgain), gradient.dgain, 3e-5);
    expect_near(back(dbias), gradient.dbias, 3e-5);
  }
}

TEST_P(LongRowsTest, SoftmaxClamp) {
  for (const int64_t C : kWidths) {
    SCOPED_TRACE(testing::Message() << "C=" << C);
    const Tensor z = random_floats({kRows, C}, 1, -9, 9);
    const Tensor ds = random_floats({kRows, C}, 2);
    const double scale = 300;
    const auto forward = reference::softmax_clamp(values_of<double>(z), C, scale);
    const auto gradient =
        reference::softmax_clamp_backward(values_of<double>(ds), forward, C, scale);
    const Tensor z_here = here(z);
    Tensor s = zeros({kRows, C});
    Tensor log_sum = zeros({kRows});
    softmax_clamp(context(), z_here, static_cast<float>(scale), s, log_sum);
    expect_near(back(s), forward.s, 1e-5);
    expect_near(back(log_sum), forward.log_sum, 1e-6);
    softmax_clamp_backward(context(), here(ds), z_here, log_sum, static_cast<float>(scale), s);
    expect_near(back(s), gradient, 1e-5);
  }
}

TEST_P(LongRowsTest, GatherDot) {
  const int64_t K = 11;
  for (const int64_t D : kWidths) {
    SCOPED_TRACE(testing::Message() << "D=" << D);
    const Tensor x = random_floats({kRows, D}, 1);
    const Tensor w = random_floats({23, D}, 2);
    const Tensor bias = random_floats({23}, 3);
    const Tensor dz = random_floats({kRows, K}, 4);
    const Tensor ids = random_ids({kRows, K}, 5, 23);
    const Tensor w_here = here(w);
    const Tensor ids_here = here(ids);
    Tensor z = zeros({kRows, K});
    gather_dot(context(), here(x), w_here, here(bias), ids_here, z);
    expect_near(back(z),
                reference::gather_dot(values_of<double>(x), values_of<double>(w),
                                      values_of<double>(bias), ids.span<int32_t>(), K, D),
                1e-5);
    Tensor dx = zeros({kRows, D});
    gather_dot_input_gradient(context(), here(dz), w_here, ids_here, dx);
    const auto gradient =
        reference::gather_dot_backward(values_of<double>(dz), values_of<double>(x),
                                       values_of<double>(w), ids.span<int32_t>(), K, D);
    expect_near(back(dx), gradient.dx, 1e-5);
  }
}

// Rows in order are those a sample tells least about.
TEST_P(LongRowsTest, TopK) {
  const std::pair<int64_t, int64_t> sizes[] = {
      {400, 100},  {399, 100},  {2048, 256},   {2049, 257},   {8192, 32},   {8192, 200},
      {8193, 1},   {8193, 256}, {16384, 300},  {16383, 512},  {16388, 32},  {4096, 100},
      {4097, 100}, {5000, 100}, {262144, 100}, {300001, 100}, {600000, 100}};
  for (const auto& [L, k] : sizes) {
    for (const bool in_order : {false, true}) {
      SCOPED_TRACE(testing::Message() << "L=" << L << " k=" << k << " in order: " << in_order);
      Tensor scores = random_floats({2, L}, L);
      for (int64_t i = 0; in_order && i < 2 * L; ++i) {
        scores.span<float>()[i] = static_cast<float>(i < L ? i : -i);
      }
      Tensor values = zeros({2, k});
      Tensor ids = zeros({2, k}, DType::kInt32);
      top_k(context(), here(scores), values, ids);
      const Tensor found = back(ids);
      const Tensor found_values = back(values);
      for (int64_t n = 0; n < 2; ++n) {
        const auto row = scores.span<float>().subspan(n * L, L);
        const auto expected = reference::top_k<float>(row, k);
        for (int64_t j = 0; j < k; ++j) {
          ASSERT_EQ(found.span<int32_t>()[n * k + j], expected[j]) << "row " << n << " place " << j;
          ASSERT_EQ(found_values.span<float>()[n * k + j], row[expected[j]]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace elias
