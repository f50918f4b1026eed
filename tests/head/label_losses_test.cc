#include "head/label_losses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ops/rows/convert.h"
#include "tests/data/sparse.h"
#include "tests/head/label_losses_reference.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradients.h"

namespace elias {
namespace {

// Shortlists of 0 to K labels; the first point's is empty, the last's full. The first places hold a
// point's own labels in some, others have none of them.
Shortlists random_shortlists(int64_t N, int64_t K, int64_t L, const BatchLabels& labels,
                             uint64_t seed) {
  Shortlists lists(N, K);
  RandomSequence random(seed, 5);
  for (int64_t i = 0; i < N; ++i) {
    const auto most = static_cast<size_t>(std::min(K, L));
    auto count = static_cast<size_t>(random.below(most + 1));
    if (i == 0) count = 0;
    if (i == N - 1) count = most;
    std::vector<int32_t> own;
    const auto add = [&](uint64_t label) {
      const auto id = static_cast<int32_t>(label);
      if (own.size() < count && std::ranges::find(own, id) == own.end()) own.push_back(id);
    };
    if (random.below(2) == 0) {
      for (const uint32_t label : labels.row(static_cast<size_t>(i)).columns) add(label);
    }
    // On both sides of the borders of blocks.
    for (const uint64_t border : {512, 1024, 1536}) {
      for (const uint64_t label : {border - 1, border}) {
        if (label < static_cast<uint64_t>(L)) add(label);
      }
    }
    while (own.size() < count) add(random.below(static_cast<uint64_t>(L)));
    std::ranges::sort(own);
    const auto row = lists.labels.span<int32_t>().subspan(static_cast<size_t>(i * K));
    for (size_t k = 0; k < static_cast<size_t>(K); ++k) {
      row[k] = k < own.size() ? own[k] : -1;
      const double uniform = random.uniform();
      lists.yhat.span<float>()[static_cast<size_t>(i * K) + k] =
          uniform < 0.2 ? 1 : static_cast<float>(uniform * uniform * uniform);
    }
    lists.counts[static_cast<size_t>(i)] = static_cast<int32_t>(own.size());
  }
  return lists;
}

struct Problem {
  Problem(int64_t L, int64_t K, uint64_t seed)
      : all_labels(L),
        places(K),
        phi(random_floats({size, width}, seed)),
        weights(random_floats({L, width}, seed + 1)),
        bias(random_floats({L}, seed + 2)),
        matrix(random_csr(30, static_cast<uint64_t>(L), 5, 4, seed)),
        points(size) {
    for (size_t i = 0; i < points.size(); ++i) points[i] = static_cast<uint32_t>((11 * i) % 30);
    shortlists = random_shortlists(size, K, L, labels(), seed);
  }

  BatchLabels labels() const { return {.matrix = &matrix, .points = points}; }
  LabelClassifiers classifiers() const { return {.weights = weights, .bias = bias}; }
  reference::LabelLosses expected(const LabelLossOptions& options) const {
    return reference::label_losses({.points = static_cast<size_t>(size),
                                    .width = static_cast<size_t>(width),
                                    .labels = static_cast<size_t>(all_labels),
                                    .phi = values_of<double>(phi),
                                    .weights = values_of<double>(weights),
                                    .bias = values_of<double>(bias)},
                                   labels(), shortlists, double{options.weights.on_p},
                                   double{options.weights.on_z}, options.all_labels);
  }

  int64_t size = 21, width = 9, all_labels, places;  // N, D, L, K
  Tensor phi, weights, bias;
  Csr matrix;
  std::vector<uint32_t> points;
  Shortlists shortlists;
};

struct Results {
  LossSums sums;
  Tensor dphi, dweights, dbias;
};

// The two gradients that are added to begin with ones.
Results by_blocks(const Context& context, const LabelLossOptions& options, Problem& problem) {
  Results results{.sums = {},
                  .dphi = random_floats({problem.size, problem.width}, 9),
                  .dweights = random_floats({problem.all_labels, problem.width}, 9, 1, 1),
                  .dbias = random_floats({problem.all_labels}, 9, 1, 1)};
  results.sums =
      label_losses_by_blocks(context, options, problem.phi, problem.classifiers(), problem.labels(),
                             problem.shortlists, results.dphi, results.dweights, results.dbias);
  for (float& value : results.dweights.span<float>()) value -= 1;
  for (float& value : results.dbias.span<float>()) value -= 1;
  return results;
}

Results by_rows(const Context& context, const LabelLossOptions& options, Problem& problem) {
  Results results{.sums = {.on_p = 10, .on_z = 20},  // they are added to
                  .dphi = random_floats({problem.size, problem.width}, 9),
                  .dweights = {},
                  .dbias = {}};
  const LabelRowGradients gradients =
      label_losses_by_rows(context, options, problem.phi, problem.classifiers(), problem.labels(),
                           problem.shortlists, results.dphi, results.sums);
  results.sums.on_p -= 10;
  results.sums.on_z -= 20;
  results.dweights = dense_on_cpu(gradients.weights, problem.all_labels);
  results.dbias = dense_on_cpu(gradients.bias, problem.all_labels);
  return results;
}

void expect_as(const reference::LabelLosses& expected, const Results& results,
               const Problem& problem, double tolerance = 2e-6) {
  EXPECT_NEAR(results.sums.on_p, expected.on_p, tolerance * expected.on_p);
  EXPECT_NEAR(results.sums.on_z, expected.on_z, tolerance * expected.on_z);
  expect_near(results.dphi, expected.dphi, tolerance);
  expect_near(results.dweights, expected.dweights, tolerance);
  expect_near(results.dbias, expected.dbias, tolerance);
  const Shortlists& lists = problem.shortlists;
  for (size_t i = 0; i < lists.counts.size(); ++i) {
    const auto own = lists.row<float>(lists.dlog_yhat, i);
    for (size_t k = 0; k < own.size(); ++k) {
      const double value = expected.dlog_yhat[i * static_cast<size_t>(lists.places()) + k];
      EXPECT_NEAR(own[k], value, 10 * tolerance * std::max(1.0, std::abs(value)));
    }
  }
}

class LabelLossesTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, LabelLossesTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

constexpr LossWeights kWeights[] = {{.on_p = 0.5F, .on_z = 0.75F}, {.on_p = 0.5F, .on_z = 0}};

TEST_P(LabelLossesTest, BothWaysMatchTheReference) {
  for (const auto& [L, K] : {std::pair{40, 12}, std::pair{40, 40}, std::pair{5, 8}}) {
    for (const LossWeights& weights : kWeights) {
      for (const bool all_labels : {false, true}) {
        SCOPED_TRACE(testing::Message() << "L=" << L << " K=" << K << " on_z=" << weights.on_z
                                        << " all=" << all_labels);
        Problem problem(L, K, 3);
        const LabelLossOptions options{.weights = weights, .all_labels = all_labels};
        const auto expected = problem.expected(options);
        expect_as(expected, by_blocks(context(), options, problem), problem);
        if (all_labels) continue;
        problem.shortlists.dlog_yhat = Tensor({problem.size, problem.places}, DType::kFloat32);
        expect_as(expected, by_rows(context(), options, problem), problem);
      }
    }
  }
}

// Several blocks a part, the last of them short.
TEST_P(LabelLossesTest, LabelsOfManyBlocks) {
  for (const bool all_labels : {false, true}) {
    Problem problem(9000, 12, 4);
    const LabelLossOptions options{.weights = kWeights[0], .all_labels = all_labels};
    const auto expected = problem.expected(options);
    expect_as(expected, by_blocks(context(), options, problem), problem, 1e-5);
    if (!all_labels) expect_as(expected, by_rows(context(), options, problem), problem, 1e-5);
  }
}

TEST_P(LabelLossesTest, WithoutShortlistsAllLabelsAreTaken) {
  for (const int64_t L : {40, 9000}) {
    Problem problem(L, 12, 5);
    problem.shortlists = Shortlists();
    const LabelLossOptions options{.weights = {.on_p = 0, .on_z = 0.75F}, .all_labels = true};
    expect_as(problem.expected(options), by_blocks(context(), options, problem), problem, 1e-5);
  }
}

TEST_P(LabelLossesTest, EmptyShortlistsTeachNothing) {
  Problem problem(40, 12, 6);
  for (int32_t& label : problem.shortlists.labels.span<int32_t>()) label = -1;
  std::ranges::fill(problem.shortlists.counts, 0);
  const LabelLossOptions options{.weights = kWeights[0]};
  for (const auto& results :
       {by_blocks(context(), options, problem), by_rows(context(), options, problem)}) {
    EXPECT_EQ(results.sums.on_p, 0);
    EXPECT_EQ(results.sums.on_z, 0);
    for (const float value : results.dphi.span<float>()) ASSERT_EQ(value, 0);
    for (const float value : results.dweights.span<float>()) ASSERT_EQ(value, 0);
    for (const float value : results.dbias.span<float>()) ASSERT_EQ(value, 0);
  }
}

TEST_P(LabelLossesTest, RoundedProductsStayClose) {
  Problem problem(40, 12, 3);
  const LabelLossOptions options{
      .weights = kWeights[0], .all_labels = true, .precision = Precision::kBFloat16};
  expect_as(problem.expected(options), by_blocks(context(), options, problem), problem, 2e-2);
}

// By rows the weights come rounded, phi is.
TEST_P(LabelLossesTest, RoundedRowsStayClose) {
  Problem problem(40, 12, 3);
  const LabelLossOptions options{.weights = kWeights[0], .precision = Precision::kBFloat16};
  const auto expected = problem.expected(options);
  Tensor rounded(problem.weights.shape(), DType::kBFloat16);
  convert(context(), problem.weights, rounded);
  problem.weights = std::move(rounded);
  expect_as(expected, by_rows(context(), options, problem), problem, 2e-2);
}

TEST(LabelLossesThreadsTest, SameBitsAtAnyThreadCount) {
  for (const bool all_labels : {false, true}) {
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      Problem problem(9000, 12, 4);
      const LabelLossOptions options{.weights = kWeights[0], .all_labels = all_labels};
      std::vector<Tensor> all;
      const auto keep = [&](Results results) {
        all.push_back(tensor_of<float>(
            {2}, {static_cast<float>(results.sums.on_p), static_cast<float>(results.sums.on_z)}));
        all.push_back(std::move(results.dphi));
        all.push_back(std::move(results.dweights));
        all.push_back(std::move(results.dbias));
        all.push_back(copy_to(Device::kCpu, problem.shortlists.dlog_yhat));
      };
      keep(by_blocks(context, options, problem));
      if (!all_labels) keep(by_rows(context, options, problem));
      return all;
    });
  }
}

}  // namespace
}  // namespace elias
