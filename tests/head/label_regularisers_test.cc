#include "head/label_regularisers.h"

#include <gtest/gtest.h>

#include "tests/head/label_regularisers_reference.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

constexpr Regulariser kOfLabels[] = {Regulariser::kGlas, Regulariser::kSpreadout,
                                     Regulariser::kLaplacian};

void scale_rows_to_unit_length(Tensor& matrix) {
  const ConstTensorView view = matrix;
  const auto D = static_cast<size_t>(view.width());
  const auto values = matrix.span<float>();
  for (size_t begin = 0; begin < values.size(); begin += D) {
    double squares = 0;
    for (size_t d = 0; d < D; ++d) squares += double{values[begin + d]} * double{values[begin + d]};
    for (size_t d = 0; d < D; ++d) {
      values[begin + d] = static_cast<float>(double{values[begin + d]} / std::sqrt(squares));
    }
  }
}

// Symmetric, in [0, 1), 0 on the diagonal and in half of all places.
Tensor random_similarity(int64_t R, uint64_t seed) {
  Tensor u = random_floats({R, R}, seed, -1, 1);
  const auto values = u.span<float>();
  const auto side = static_cast<size_t>(R);
  for (size_t i = 0; i < side; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const float value = i == j ? 0 : std::max(0.0F, values[i * side + j]);
      values[i * side + j] = values[j * side + i] = value;
    }
  }
  return u;
}

struct Problem {
  explicit Problem(int64_t R, int64_t D, uint64_t seed)
      : v(random_floats({R, D}, seed)), u(random_similarity(R, seed + 1)) {
    scale_rows_to_unit_length(v);
  }

  reference::LabelBlock block() const {
    const ConstTensorView view = v;
    return {.labels = static_cast<size_t>(view.rows()),
            .width = static_cast<size_t>(view.width()),
            .v = values_of<double>(v),
            .u = values_of<double>(u)};
  }

  Tensor v, u;
};

using LabelRegularisers = OnBackend;
INSTANTIATE_TEST_SUITE_P(Backends, LabelRegularisers, testing::ValuesIn(backends(false)),
                         backend_name);

TEST_P(LabelRegularisers, AgreeWithTheirDefinitionsAndFiniteDifferences) {
  for (const Regulariser kind : kOfLabels) {
    const Problem problem(9, 6, 3);
    Tensor dv({9, 6}, DType::kFloat32);
    const double loss = regularise_labels(context(), kind, 2.5F, problem.v, problem.u, dv);
    EXPECT_NEAR(loss, reference::regulariser(kind, problem.block()), 1e-6);
    const auto weighted = [&](const std::vector<double>& v) {
      reference::LabelBlock block = problem.block();
      block.v = v;
      return 2.5 * reference::regulariser(kind, block);
    };
    expect_gradient(weighted, values_of<double>(problem.v), values_of<double>(dv), 1e-5, 1e-6);
  }
}

TEST_P(LabelRegularisers, GlasIsLaplacianAndSpreadoutButForAConstant) {
  const Problem problem(70, 24, 5);  // more than a chunk of rows
  const auto loss_of = [&](Regulariser kind, Tensor& dv) {
    return regularise_labels(context(), kind, 1, problem.v, problem.u, dv);
  };
  Tensor glas({70, 24}, DType::kFloat32), both({70, 24}, DType::kFloat32);
  const double whole = loss_of(Regulariser::kGlas, glas);
  const double parts =
      loss_of(Regulariser::kLaplacian, both) + loss_of(Regulariser::kSpreadout, both);
  double constant = 0;
  for (const float u : problem.u.span<float>()) {
    constant += double{u} * double{u} - 2 * double{u};
  }
  EXPECT_NEAR(whole, parts + constant / (70 * 70), 1e-6);
  // Gradients differ along v alone, which unit length takes away.
  const auto along = problem.v.span<float>();
  for (size_t i = 0; i < 70; ++i) {
    double a = 0, b = 0;
    for (size_t d = 24 * i; d < 24 * (i + 1); ++d) {
      a += double{glas.span<float>()[d]} * double{along[d]};
      b += double{both.span<float>()[d]} * double{along[d]};
    }
    for (size_t d = 24 * i; d < 24 * (i + 1); ++d) {
      ASSERT_NEAR(double{glas.span<float>()[d]} - a * double{along[d]},
                  double{both.span<float>()[d]} - b * double{along[d]}, 1e-7);
    }
  }
}

TEST_P(LabelRegularisers, GravityAgreesWithItsDefinitionAndFiniteDifferences) {
  const Tensor phi = random_floats({5, 6}, 7), v = random_floats({8, 6}, 8);
  Tensor dphi({5, 6}, DType::kFloat32), dv({8, 6}, DType::kFloat32);
  const double loss = add_gravity(context(), 0.5F, phi, v, dphi, dv);
  EXPECT_NEAR(loss, reference::gravity(values_of<double>(phi), values_of<double>(v), 6), 1e-6);
  expect_gradient([&](const auto& x) { return reference::gravity(x, values_of<double>(v), 6) / 2; },
                  values_of<double>(phi), values_of<double>(dphi), 1e-5, 1e-6);
  expect_gradient(
      [&](const auto& x) { return reference::gravity(values_of<double>(phi), x, 6) / 2; },
      values_of<double>(v), values_of<double>(dv), 1e-5, 1e-6);
}

TEST_P(LabelRegularisers, GradientsAreAdded) {
  const Problem problem(4, 3, 9);
  for (const Regulariser kind : kOfLabels) {
    Tensor once({4, 3}, DType::kFloat32), twice({4, 3}, DType::kFloat32);
    regularise_labels(context(), kind, 1, problem.v, problem.u, once);
    regularise_labels(context(), kind, 1, problem.v, problem.u, twice);
    regularise_labels(context(), kind, 1, problem.v, problem.u, twice);
    std::vector<double> wanted = values_of<double>(once);
    for (double& value : wanted) value *= 2;
    expect_near(twice, wanted, 1e-6);
  }
}

TEST_P(LabelRegularisers, OneLabelHasNothingToLose) {
  const Problem problem(1, 5, 11);
  for (const Regulariser kind : kOfLabels) {
    Tensor dv({1, 5}, DType::kFloat32);
    EXPECT_EQ(regularise_labels(context(), kind, 1, problem.v, problem.u, dv), 0);
    for (const float value : dv.span<float>()) EXPECT_EQ(value, 0);
  }
}

TEST(LabelRegularisersThreads, LeaveNoTrace) {
  const Problem problem(100, 40, 13);
  const Tensor phi = random_floats({64, 40}, 14);
  for (const Regulariser kind : kOfLabels) {
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      std::vector<Tensor> results;
      results.emplace_back(Shape{100, 40}, DType::kFloat32);
      regularise_labels(context, kind, 1, problem.v, problem.u, results[0]);
      return results;
    });
  }
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    results.emplace_back(Shape{64, 40}, DType::kFloat32);
    results.emplace_back(Shape{100, 40}, DType::kFloat32);
    add_gravity(context, 1, phi, problem.v, results[0], results[1]);
    return results;
  });
}

}  // namespace
}  // namespace elias
