#include "ops/lookup/gather_dot.h"

#include <gmock/gmock.h>

#include "ops/rows/convert.h"
#include "tests/ops/backends.h"
#include "tests/ops/gather_dot_reference.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradients.h"

namespace elias {
namespace {

using testing::ThrowsMessage;

// Labels below L, of which about one in four is an empty place.
Tensor random_shortlists(int64_t N, int64_t K, int32_t L) {
  Tensor ids = random_ids({N, K}, 1, L);
  const Tensor coin = random_ids({N, K}, 2, 4);
  for (int64_t p = 0; p < N * K; ++p) {
    if (coin.span<int32_t>()[p] == 0) ids.span<int32_t>()[p] = -1;
  }
  return ids;
}

class GatherDotTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, GatherDotTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST(GatherDotGradientTest, ReferenceIsTheDerivative) {
  const size_t K = 4;
  const size_t D = 3;
  const Tensor ids = random_shortlists(5, K, 6);
  const auto all = ids.span<int32_t>();
  const auto x = values_of<double>(random_floats({5, D}, 3));
  const auto w = values_of<double>(random_floats({6, D}, 4));
  const auto bias = values_of<double>(random_floats({6}, 5));
  const auto dz = values_of<double>(random_floats({5, K}, 6));
  const auto gradient = reference::gather_dot_backward(dz, x, w, all, K, D);
  expect_gradient([&](auto& at) { return dot(reference::gather_dot(at, w, bias, all, K, D), dz); },
                  x, gradient.dx);
  expect_gradient([&](auto& at) { return dot(reference::gather_dot(x, at, bias, all, K, D), dz); },
                  w, gradient.dw);
  expect_gradient([&](auto& at) { return dot(reference::gather_dot(x, w, at, all, K, D), dz); },
                  bias, gradient.dbias);
}

TEST_P(GatherDotTest, ForwardAndBackwardMatchReference) {
  const int64_t L = 40;
  for (const int64_t N : {0, 1, 7, 70}) {
    for (const int64_t K : {0, 1, 3, 4, 33}) {
      for (const int64_t D : {1, 3, 16, 33, 300, 768}) {
        SCOPED_TRACE(testing::Message() << "N=" << N << " K=" << K << " D=" << D);
        const Tensor ids = random_shortlists(N, K, L);
        const auto all = ids.span<int32_t>();
        const Tensor x = random_floats({N, D}, 3);
        const Tensor w = random_floats({L, D}, 4);
        const Tensor bias = random_floats({L}, 5);
        const Tensor dz = random_floats({N, K}, 6);
        const Tensor ids_here = here(ids);
        const Tensor x_here = here(x);
        const Tensor w_here = here(w);
        const Tensor dz_here = here(dz);

        Tensor z = here(random_floats({N, K}, 9));  // what was there does not show
        gather_dot(context(), x_here, w_here, here(bias), ids_here, z);
        expect_near(back(z),
                    reference::gather_dot(values_of<double>(x), values_of<double>(w),
                                          values_of<double>(bias), all, K, D),
                    1e-5);
        gather_dot(context(), x_here, w_here, {}, ids_here, z);
        expect_near(back(z),
                    reference::gather_dot(values_of<double>(x), values_of<double>(w),
                                          std::vector<double>(L), all, K, D),
                    1e-5);

        const auto gradient = reference::gather_dot_backward(
            values_of<double>(dz), values_of<double>(x), values_of<double>(w), all, K, D);
        Tensor dx = here(random_floats({N, D}, 9));
        gather_dot_input_gradient(context(), dz_here, w_here, ids_here, dx);
        expect_near(back(dx), gradient.dx, 1e-5);
        const RowGradient dw = gather_dot_weight_gradient(context(), dz_here, x_here, ids_here, L);
        expect_near(dense_on_cpu(dw, L), gradient.dw, 1e-5);
      }
    }
  }
}

TEST_P(GatherDotTest, SumOfRowWeightsIsTheGradientOfTheBias) {
  const int64_t L = 40;
  const Tensor ids = random_shortlists(20, 9, L);
  const Tensor x = random_floats({20, 5}, 3);
  const Tensor dz = random_floats({20, 9}, 6);
  const auto expected =
      reference::gather_dot_backward(values_of<double>(dz), values_of<double>(x),
                                     std::vector<double>(L * 5), ids.span<int32_t>(), 9, 5);
  const Tensor x_here = here(x);
  const RowGradient dw = gather_dot_weight_gradient(context(), here(dz), x_here, here(ids), L);
  Tensor sums = zeros({dw.size()});
  sum_row_weights(context(), dw, sums);
  const Tensor rows = back(dw.rows);
  std::vector<double> of_rows;
  for (const int32_t row : rows.span<int32_t>()) of_rows.push_back(expected.dbias[row]);
  expect_near(back(sums), of_rows, 1e-5);
}

TEST_P(GatherDotTest, WorksOnViews) {
  const int64_t N = 6;
  const int64_t K = 5;
  const int64_t D = 33;
  const int64_t L = 20;
  const Tensor ids = random_shortlists(N, K + 3, L);
  const Tensor x = random_floats({N, D + 4}, 3);
  const Tensor w = random_floats({L, D + 7}, 4);
  const Tensor dz = random_floats({N, K + 2}, 6);
  const Tensor ids_dense = copy_to(Device::kCpu, ids.view().columns(1, K + 1));
  const Tensor x_dense = copy_to(Device::kCpu, x.view().columns(2, D + 2));
  const Tensor w_dense = copy_to(Device::kCpu, w.view().columns(3, D + 3));
  const Tensor dz_dense = copy_to(Device::kCpu, dz.view().columns(2, K + 2));
  const auto forward =
      reference::gather_dot(values_of<double>(x_dense), values_of<double>(w_dense),
                            std::vector<double>(L), ids_dense.span<int32_t>(), K, D);
  const auto gradient =
      reference::gather_dot_backward(values_of<double>(dz_dense), values_of<double>(x_dense),
                                     values_of<double>(w_dense), ids_dense.span<int32_t>(), K, D);

  const Tensor ids_all = here(ids);
  const Tensor x_all = here(x);
  const Tensor w_all = here(w);
  const Tensor dz_all = here(dz);
  const ConstTensorView ids_here = ids_all.view().columns(1, K + 1);
  const ConstTensorView x_here = x_all.view().columns(2, D + 2);
  const ConstTensorView w_here = w_all.view().columns(3, D + 3);
  const ConstTensorView dz_here = dz_all.view().columns(2, K + 2);
  Tensor z = zeros({N, K + 1});
  gather_dot(context(), x_here, w_here, {}, ids_here, z.view().columns(0, K));
  expect_near(back(z.view().columns(0, K)), forward, 1e-5);
  expect_near(back(z.view().columns(K, K + 1)), std::vector<double>(N), 0);
  Tensor dx = zeros({N, D + 1});
  gather_dot_input_gradient(context(), dz_here, w_here, ids_here, dx.view().columns(0, D));
  expect_near(back(dx.view().columns(0, D)), gradient.dx, 1e-5);
  expect_near(back(dx.view().columns(D, D + 1)), std::vector<double>(N), 0);
  expect_near(dense_on_cpu(gather_dot_weight_gradient(context(), dz_here, x_here, ids_here, L), L),
              gradient.dw, 1e-5);
}

// Where the GPU's kernel is not: bfloat16 weights.
class GatherDotHalvesTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(OnCpu, GatherDotHalvesTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(GatherDotHalvesTest, WeightsInBFloat16MatchReference) {
  const int64_t L = 40;
  const int64_t N = 7;
  for (const int64_t K : {1, 3, 33}) {
    for (const int64_t D : {1, 3, 16, 33, 300, 768}) {
      SCOPED_TRACE(testing::Message() << "K=" << K << " D=" << D);
      const Tensor ids = random_shortlists(N, K, L);
      const Tensor x = random_floats({N, D}, 3);
      const Tensor bias = random_floats({L}, 5);
      Tensor w({L, D + 5}, DType::kBFloat16);  // rows with a gap
      std::vector<double> rounded(L * D);
      const Tensor exact = random_floats({L, D}, 4);
      for (int64_t i = 0; i < L * D; ++i) {
        const BFloat16 value = to_bfloat16(exact.span<float>()[i]);
        w.span<BFloat16>()[i / D * (D + 5) + 2 + i % D] = value;
        rounded[i] = to_float(value);
      }
      Tensor z = random_floats({N, K}, 9);
      gather_dot(context(), x, w.view().columns(2, D + 2), bias, ids, z);
      expect_near(z,
                  reference::gather_dot(values_of<double>(x), rounded, values_of<double>(bias),
                                        ids.span<int32_t>(), K, D),
                  1e-5);
    }
  }
}

// Shortlists that rise, share their rows, and name more of them than a cache holds are served block
// by block of rows: what comes out is what shortlists in any other order give.
TEST_P(GatherDotHalvesTest, BlocksOfRowsGiveTheSame) {
  const int64_t N = 40;
  const int64_t K = 200;
  const int64_t L = 1900;
  const int64_t D = 300;  // 1.1 MiB in bfloat16
  Tensor rising({N, K}, DType::kInt32);
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t k = 0; k < K; ++k) {
      const bool pad = k >= K - i % 3;  // empty places come last
      rising.span<int32_t>()[i * K + k] = pad ? -1 : static_cast<int32_t>(9 * k + (5 * i + k) % 9);
    }
  }
  const auto reversed = [&]<typename T>(const Tensor& rows, T) {
    Tensor copy(rows.shape(), rows.dtype());
    for (int64_t i = 0; i < N; ++i) {
      std::ranges::reverse_copy(rows.span<T>().subspan(i * K, K), copy.span<T>().begin() + i * K);
    }
    return copy;
  };
  const Tensor falling = reversed(rising, int32_t());
  const Tensor x = random_floats({N, D}, 3);
  const Tensor exact = random_floats({L, D}, 4);
  Tensor halves({L, D}, DType::kBFloat16);
  convert(context(), exact, halves);
  const Tensor dz = random_floats({N, K}, 6);
  for (const ConstTensorView w : {exact.view(), std::as_const(halves).view()}) {
    Tensor z({N, K}, DType::kFloat32);
    Tensor z_falling({N, K}, DType::kFloat32);
    gather_dot(context(), x, w, {}, rising, z);
    gather_dot(context(), x, w, {}, falling, z_falling);
    expect_near(z, values_of<double>(reversed(z_falling, float())), 0);
    Tensor dx = random_floats({N, D}, 9);
    Tensor dx_falling({N, D}, DType::kFloat32);
    gather_dot_input_gradient(context(), dz, w, rising, dx);
    gather_dot_input_gradient(context(), reversed(dz, float()), w, falling, dx_falling);
    expect_near(dx, values_of<double>(dx_falling), 1e-5);  // other orders of addition
  }
}

TEST(GatherDotThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t L = 500;
  const int64_t D = 600;
  for (const int64_t N : {1, 100}) {  // a single shortlist is cut too
    const int64_t K = 600 / N + 200;
    const Tensor ids = random_shortlists(N, K, L);
    const Tensor x = random_floats({N, D}, 3);
    const Tensor w = random_floats({L, D}, 4);
    const Tensor bias = random_floats({L}, 5);
    const Tensor dz = random_floats({N, K}, 6);
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      std::vector<Tensor> results;
      results.emplace_back(Shape{N, K}, DType::kFloat32);
      results.emplace_back(Shape{N, D}, DType::kFloat32);
      gather_dot(context, x, w, bias, ids, results[0]);
      gather_dot_input_gradient(context, dz, w, ids, results[1]);
      RowGradient dw = gather_dot_weight_gradient(context, dz, x, ids, L);
      results.emplace_back(Shape{dw.size(), D}, DType::kFloat32);
      expand_rows(context, dw, results[2]);
      results.push_back(std::move(dw.points));
      results.push_back(std::move(dw.weights));
      return results;
    });
  }
}

TEST(GatherDotThreadsTest, AScoreDoesNotDependOnItsPlace) {
  ThreadPool pool(1);
  const Tensor x = random_floats({1, 77}, 1);
  const Tensor w = random_floats({3, 77}, 2);
  for (const Isa isa : supported_isas()) {
    const Tensor ids = tensor_of<int32_t>({1, 7}, {2, 0, 2, -1, 1, 2, 2});
    Tensor z({1, 7}, DType::kFloat32);
    gather_dot(Context(pool, isa), x, w, {}, ids, z);
    const auto scores = z.span<float>();
    EXPECT_EQ(scores[0], scores[2]);
    EXPECT_EQ(scores[0], scores[5]);
    EXPECT_EQ(scores[0], scores[6]);
  }
}

TEST(GatherDotErrorsTest, RefusesWrongShapesAndIdsWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor x({2, 8}, DType::kFloat32);
  const Tensor w({5, 8}, DType::kFloat32);
  const Tensor narrow({5, 7}, DType::kFloat32);
  const Tensor bias({4}, DType::kFloat32);
  const Tensor ids = tensor_of<int32_t>({2, 2}, {0, -1, 4, -2});
  const Tensor good = tensor_of<int32_t>({2, 2}, {0, -1, 4, 4});
  Tensor z({2, 2}, DType::kFloat32);
  Tensor dx({2, 9}, DType::kFloat32);
  EXPECT_THAT([&] { gather_dot(context, x, narrow, {}, good, z); },
              ThrowsMessage<InputError>("gather dot: x is [2, 8], but must be [2, 7]"));
  EXPECT_THAT([&] { gather_dot(context, x, w, bias, good, z); },
              ThrowsMessage<InputError>("gather dot: bias is [4], but must be [5]"));
  EXPECT_THAT([&] { gather_dot(context, x, w, {}, ids, z); },
              ThrowsMessage<InputError>(
                  "gather dot: ids holds -2 at row 1, column 1, but must be in [-1, 5)"));
  const Tensor halves({2, 8}, DType::kBFloat16);
  EXPECT_THAT([&] { gather_dot(context, halves, w, {}, good, z); },
              ThrowsMessage<InputError>("gather dot: x is bfloat16, but must be float32"));
  EXPECT_THAT(
      [&] { gather_dot_input_gradient(context, z, w, good, dx); },
      ThrowsMessage<InputError>("gather dot, input gradient: dx is [2, 9], but must be [2, 8]"));
  EXPECT_THAT([&] { gather_dot_weight_gradient(context, z, x, good, 4); },
              ThrowsMessage<InputError>("gather dot, weight gradient: ids holds 4 at row 1, column "
                                        "0, but must be in [-1, 4)"));
}

}  // namespace
}  // namespace elias
