#include "ranker/monotone_logistic.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "base/random.h"

namespace elias {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::ThrowsMessage;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();

struct Problem {
  std::vector<PiecewiseInput> inputs;
  MonotoneLogisticOptions options{};
  std::vector<float> values{};
  std::vector<uint8_t> targets{};
  std::vector<float> weights{};

  MonotoneLogistic fitted(int threads = 1) const {
    ThreadPool pool(threads);
    return fit_monotone_logistic({values, targets, weights}, inputs, options, pool);
  }
};

/// f at x, by a walk from the first knot.
double naive_piece(const std::vector<float>& knots, const std::vector<double>& slopes, double x) {
  if (knots.empty()) return slopes[0] * x;
  if (x <= knots[0]) return slopes[0] * (x - knots[0]);
  double sum = 0;
  for (size_t s = 1; s < slopes.size() && x > knots[s - 1]; ++s) {
    const double end = s < knots.size() ? std::min<double>(x, knots[s]) : x;
    sum += slopes[s] * (end - knots[s - 1]);
  }
  return sum;
}

/// Parameters are the bias, then the slopes of all inputs.
double naive_log_odds(const std::vector<PiecewiseInput>& inputs,
                      const std::vector<double>& parameters, const float* x) {
  double sum = parameters[0];
  auto next = parameters.begin() + 1;
  for (size_t j = 0; j < inputs.size(); ++j) {
    const auto end = next + static_cast<int64_t>(inputs[j].knots.size()) + 1;
    sum += naive_piece(inputs[j].knots, {next, end}, x[j]);
    next = end;
  }
  return sum;
}

std::vector<double> parameters_of(const MonotoneLogistic& model) {
  std::vector<double> parameters{model.bias};
  for (const auto& input : model.inputs) {
    parameters.insert(parameters.end(), input.slopes.begin(), input.slopes.end());
  }
  return parameters;
}

std::vector<double> priors_of(const Problem& problem) {
  std::vector<double> priors{problem.options.prior_bias};
  for (const PiecewiseInput& input : problem.inputs) {
    priors.insert(priors.end(), input.knots.size() + 1, input.prior_slope);
  }
  return priors;
}

/// Whether each parameter must not be negative.
std::vector<bool> bounded(const Problem& problem) {
  std::vector<bool> result{false};
  for (const PiecewiseInput& input : problem.inputs) {
    result.insert(result.end(), input.knots.size() + 1, input.monotone);
  }
  return result;
}

double weight_of(const Problem& problem, size_t row) {
  return problem.weights.empty() ? 1.0 : problem.weights[row];
}

double objective(const Problem& problem, const std::vector<double>& parameters) {
  const std::vector<double> priors = priors_of(problem);
  double sum = 0;
  for (size_t p = 0; p < parameters.size(); ++p) {
    sum += problem.options.ridge / 2 * std::pow(parameters[p] - priors[p], 2);
  }
  for (size_t i = 0; i < problem.targets.size(); ++i) {
    const float* x = problem.values.data() + i * problem.inputs.size();
    const double log_odds = naive_log_odds(problem.inputs, parameters, x);
    const double sign = problem.targets[i] != 0 ? 1 : -1;
    sum += weight_of(problem, i) * std::log1p(std::exp(-sign * log_odds));
  }
  return sum;
}

/// The slow twin: short steps down the gradient, each followed by a return into the bounds. The log
/// odds are linear in the parameters, so those of unit vectors are the rows of a matrix.
std::vector<double> projected_descent(const Problem& problem, int steps) {
  const std::vector<double> priors = priors_of(problem);
  const std::vector<bool> at_least_zero = bounded(problem);
  const size_t n = problem.targets.size(), P = priors.size();
  std::vector<double> matrix(n * P);
  double steepest = problem.options.ridge;
  for (size_t i = 0; i < n; ++i) {
    for (size_t p = 0; p < P; ++p) {
      std::vector<double> unit(P);
      unit[p] = 1;
      const float* x = problem.values.data() + i * problem.inputs.size();
      matrix[i * P + p] = naive_log_odds(problem.inputs, unit, x);
      steepest += weight_of(problem, i) * std::pow(matrix[i * P + p], 2) / 4;
    }
  }
  std::vector<double> parameters = priors;
  for (int step = 0; step < steps; ++step) {
    std::vector<double> gradient(P);
    for (size_t p = 0; p < P; ++p)
      gradient[p] = problem.options.ridge * (parameters[p] - priors[p]);
    for (size_t i = 0; i < n; ++i) {
      double log_odds = 0;
      for (size_t p = 0; p < P; ++p) log_odds += parameters[p] * matrix[i * P + p];
      const double excess = 1 / (1 + std::exp(-log_odds)) - problem.targets[i];
      for (size_t p = 0; p < P; ++p) {
        gradient[p] += weight_of(problem, i) * excess * matrix[i * P + p];
      }
    }
    for (size_t p = 0; p < P; ++p) {
      parameters[p] -= gradient[p] / steepest;
      if (at_least_zero[p]) parameters[p] = std::max(parameters[p], 0.0);
    }
  }
  return parameters;
}

double slope_along(const Problem& problem, std::vector<double> parameters, size_t p) {
  constexpr double kSmall = 1e-5;
  parameters[p] += kSmall;
  const double above = objective(problem, parameters);
  parameters[p] -= 2 * kSmall;
  return (above - objective(problem, parameters)) / (2 * kSmall);
}

/// Rows with values in [-2, 2] whose targets follow `log_odds`.
template <typename LogOdds>
void add_rows(Problem& problem, size_t rows, uint64_t seed, const LogOdds& log_odds) {
  RandomSequence random(seed, 1);
  for (size_t i = 0; i < rows; ++i) {
    std::vector<float> x;
    for (size_t j = 0; j < problem.inputs.size(); ++j) {
      x.push_back(static_cast<float>(random.uniform() * 4 - 2));
    }
    const double probability = 1 / (1 + std::exp(-log_odds(x)));
    problem.targets.push_back(random.uniform() < probability ? 1 : 0);
    problem.values.insert(problem.values.end(), x.begin(), x.end());
  }
}

/// Some rows want slopes that the bounds forbid, and some do not.
Problem small_problem(uint64_t seed) {
  Problem problem{.inputs = {{.knots = {-1, 0, 0.5F}, .prior_slope = 0.3F},
                             {.knots = {0.2F}, .monotone = false, .prior_slope = -0.5F},
                             {}},
                  .options = {.ridge = 0.5, .prior_bias = 0.1F}};
  add_rows(problem, 60, seed, [](const std::vector<float>& x) {
    return 2 * std::sin(2 * x[0]) + std::abs(x[1]) + x[2] / 4;
  });
  RandomSequence random(seed, 2);
  for (size_t i = 0; i < 60; ++i) {
    problem.weights.push_back(static_cast<float>(random.uniform() * 2));
  }
  return problem;
}

TEST(MonotoneLogisticTest, LogOddsAreThoseOfAWalkFromTheFirstKnot) {
  const Problem problem = small_problem(0);
  const MonotoneLogistic model{.bias = 0.3F,
                               .inputs = {{problem.inputs[0].knots, {1, 2, 0, 0.5F}},
                                          {problem.inputs[1].knots, {-1, 3}},
                                          {{}, {0.25F}}}};
  for (size_t i = 0; i < problem.targets.size(); ++i) {
    const float* x = problem.values.data() + 3 * i;
    const double expected = naive_log_odds(problem.inputs, parameters_of(model), x);
    EXPECT_NEAR(model.log_odds({x, 3}), expected, 1e-12);
    EXPECT_NEAR(model.probability({x, 3}), 1 / (1 + std::exp(-expected)), 1e-6);
  }
}

TEST(MonotoneLogisticTest, NeverFallsAndIsNeverNan) {
  std::vector<float> values{-kInfinity, -kLargest, -1e30F, -1,       -0.0F,
                            1e-40F,     1,         1e30F,  kLargest, kInfinity};
  RandomSequence random(3, 3);
  for (int i = 0; i < 1000; ++i) {
    const auto size = static_cast<float>(std::exp(random.uniform() * 120 - 60));
    values.insert(values.end(), {size, -size, std::nextafter(size, kInfinity)});
  }
  std::ranges::sort(values);
  const MonotoneLogistic models[] = {
      {.bias = 0.1F, .inputs = {{{-1, 0.1F, 3}, {0.7F, 0.1F, 1e-9F, 0.3F}}}},
      {.bias = -kLargest, .inputs = {{{-kLargest, kLargest}, {kLargest, kLargest, kLargest}}}},
      {.bias = 5, .inputs = {{{}, {1e-30F}}}},
      {.bias = 5, .inputs = {{{0}, {0, 0}}}},
  };
  for (const MonotoneLogistic& model : models) {
    double before = -std::numeric_limits<double>::max();
    for (const float value : values) {
      const double log_odds = model.log_odds({&value, 1});
      ASSERT_TRUE(std::isfinite(log_odds)) << value;
      ASSERT_GE(log_odds, before) << value;
      ASSERT_GE(model.probability({&value, 1}), 0) << value;
      before = log_odds;
    }
  }
}

TEST(MonotoneLogisticTest, RecoversAKnownFunction) {
  Problem problem{.inputs = {{.knots = {-1, 0, 1}}, {.knots = {0}, .monotone = false}, {}}};
  const MonotoneLogistic hidden{
      .bias = -0.5F, .inputs = {{{-1, 0, 1}, {0, 2, 0.5F, 1}}, {{0}, {-1, 1}}, {{}, {1}}}};
  add_rows(problem, 40'000, 1, [&](const std::vector<float>& x) { return hidden.log_odds(x); });
  const MonotoneLogistic model = problem.fitted();
  for (size_t i = 0; i < 1000; ++i) {
    const std::span<const float> x(problem.values.data() + 3 * i, 3);
    EXPECT_NEAR(model.probability(x), hidden.probability(x), 0.03);
  }
}

TEST(MonotoneLogisticTest, AgreesWithProjectedDescent) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const Problem problem = small_problem(seed);
    const double least = objective(problem, projected_descent(problem, 10'000));
    const double ours = objective(problem, parameters_of(problem.fitted()));
    EXPECT_NEAR(ours, least, 1e-6 * least) << seed;
    EXPECT_LT(ours, 0.95 * objective(problem, priors_of(problem)));
  }
}

TEST(MonotoneLogisticTest, NoParameterCanBeBettered) {
  size_t at_bound = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = small_problem(seed);
    const std::vector<double> parameters = parameters_of(problem.fitted());
    const std::vector<bool> at_least_zero = bounded(problem);
    for (size_t p = 0; p < parameters.size(); ++p) {
      const double slope = slope_along(problem, parameters, p);
      if (at_least_zero[p] && parameters[p] == 0) {
        EXPECT_GE(slope, -1e-4) << seed << ' ' << p;
        ++at_bound;
      } else {
        EXPECT_NEAR(slope, 0, 1e-4) << seed << ' ' << p;
      }
    }
  }
  EXPECT_GT(at_bound, 20);
  EXPECT_LT(at_bound, 80);
}

TEST(MonotoneLogisticTest, DoesNotFallWhereTheRowsWouldHaveItFall) {
  Problem problem{.inputs = {{.knots = {-1, 0, 1}}}};
  add_rows(problem, 500, 2, [](const std::vector<float>& x) { return 1 - 2 * x[0]; });
  EXPECT_THAT(problem.fitted().inputs[0].slopes, Each(0));
  problem.inputs[0].monotone = false;
  EXPECT_THAT(problem.fitted().inputs[0].slopes, Each(Lt(-0.5)));
}

TEST(MonotoneLogisticTest, AWeightIsANumberOfRows) {
  Problem twice{.inputs = {{.knots = {0}}}};
  add_rows(twice, 100, 4, [](const std::vector<float>& x) { return double{x[0]}; });
  Problem weighted = twice;
  twice.values.insert(twice.values.end(), twice.values.begin() + 50, twice.values.end());
  twice.targets.insert(twice.targets.end(), twice.targets.begin() + 50, twice.targets.end());
  weighted.weights.assign(50, 1);
  weighted.weights.insert(weighted.weights.end(), 50, 2);
  add_rows(weighted, 30, 5, [](const std::vector<float>&) { return 0.0; });
  weighted.weights.insert(weighted.weights.end(), 30, 0);
  const auto expected = parameters_of(twice.fitted());
  EXPECT_THAT(parameters_of(weighted.fitted()),
              testing::Pointwise(testing::DoubleNear(1e-5), expected));
}

TEST(MonotoneLogisticTest, ComesBackFromAPriorThatIsFarOff) {
  // Every probability is 0 or 1 there, and the quadratic knows of no curvature but the ridge's.
  Problem problem{.inputs = {{.knots = {0}, .prior_slope = 1000}}, .options = {.ridge = 1e-3}};
  add_rows(problem, 300, 6, [](const std::vector<float>& x) { return double{x[0]}; });
  const std::vector<double> parameters = parameters_of(problem.fitted());
  for (size_t p = 0; p < parameters.size(); ++p) {
    EXPECT_NEAR(slope_along(problem, parameters, p), 0, 1e-3);
  }
}

TEST(MonotoneLogisticTest, TakesTargetsThatAreAllEqual) {
  for (const uint8_t target : std::vector<uint8_t>{0, 1}) {
    Problem problem{.inputs = {{.knots = {0}}}};
    add_rows(problem, 200, 3, [](const std::vector<float>&) { return 0.0; });
    problem.targets.assign(200, target);
    const MonotoneLogistic model = problem.fitted();
    for (const float x : {-2.0F, 0.0F, 2.0F}) EXPECT_NEAR(model.probability({&x, 1}), target, 0.1);
  }
}

TEST(MonotoneLogisticTest, TakesOneRow) {
  const Problem problem{.inputs = {{.knots = {0}}, {}}, .values = {1, -1}, .targets = {1}};
  const MonotoneLogistic model = problem.fitted();
  // bias = slope = 1 - sigmoid(bias + slope)
  EXPECT_NEAR(model.bias, 0.3374, 1e-3);
  EXPECT_THAT(model.inputs[0].slopes, ElementsAre(0, model.bias));
  EXPECT_THAT(model.inputs[1].slopes, ElementsAre(0));
}

TEST(MonotoneLogisticTest, IsThePriorWithoutRows) {
  const Problem problem{
      .inputs = {{.knots = {0, 1}, .prior_slope = 0.7F}, {.monotone = false, .prior_slope = -0.1F}},
      .options = {.ridge = 2, .prior_bias = 0.3F}};
  const MonotoneLogistic model = problem.fitted();
  EXPECT_EQ(model.bias, 0.3F);
  EXPECT_THAT(model.inputs[0].knots, ElementsAre(0, 1));
  EXPECT_THAT(model.inputs[0].slopes, ElementsAre(0.7F, 0.7F, 0.7F));
  EXPECT_THAT(model.inputs[1].knots, IsEmpty());
  EXPECT_THAT(model.inputs[1].slopes, ElementsAre(-0.1F));
}

TEST(MonotoneLogisticTest, LearnsTheShareOfTrueRowsWithoutInputs) {
  const Problem problem{.inputs = {}, .options = {.ridge = 1e-9}, .targets = {1, 0, 0, 0}};
  EXPECT_NEAR(problem.fitted().probability({}), 0.25, 1e-6);
}

TEST(MonotoneLogisticThreadTest, IsTheSameAtAnyNumberOfThreads) {
  Problem problem{.inputs = {{.knots = {-1, 0, 1}}, {.knots = {0}, .monotone = false}}};
  add_rows(problem, 20'000, 7,
           [](const std::vector<float>& x) { return double{x[0]} - double{x[1]}; });
  const std::vector<double> alone = parameters_of(problem.fitted(1));
  for (const int threads : {2, 5}) EXPECT_EQ(parameters_of(problem.fitted(threads)), alone);
}

TEST(QuantileKnotsTest, RiseStrictlyWhateverTheTies) {
  const std::vector<double> shares{0, 0.25, 0.5, 0.75, 1};
  EXPECT_THAT(quantile_knots({5, 3, 1, 2, 4}, shares), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(quantile_knots({1, 0, 0, 0, 0, 0, 0, 2}, shares), ElementsAre(0, 2));
  EXPECT_THAT(quantile_knots({7, 7, 7}, shares), ElementsAre(7));
  EXPECT_THAT(quantile_knots({0.0F, -0.0F}, shares), ElementsAre(0));
  EXPECT_THAT(quantile_knots({3, 1, 2}, std::vector{0.9, 0.1}), ElementsAre(1, 3));
  EXPECT_THAT(quantile_knots({}, shares), IsEmpty());
  EXPECT_THAT(quantile_knots({1, 2}, {}), IsEmpty());
}

TEST(CheckMonotoneLogisticTest, RefusesWhatCannotBeAModel) {
  const auto check = [](float bias, std::vector<float> knots, std::vector<float> slopes) {
    check_monotone_logistic({.bias = bias, .inputs = {{{}, {1}}, {knots, slopes}}}, "m/c.json");
  };
  EXPECT_NO_THROW(check(1, {}, {-1}));
  EXPECT_NO_THROW(check(1, {-1, 2}, {0, 1, kLargest}));
  const auto expect_refused = [&](float bias, std::vector<float> knots, std::vector<float> slopes,
                                  const std::string& message) {
    EXPECT_THAT([&] { check(bias, knots, slopes); },
                ThrowsMessage<InputError>(HasSubstr("m/c.json: " + message)));
  };
  expect_refused(kNan, {}, {1}, "the bias");
  expect_refused(kInfinity, {}, {1}, "the bias");
  expect_refused(0, {}, {}, "the slopes of its calibration do not fit");
  expect_refused(0, {1}, {1}, "the slopes of its calibration do not fit");
  expect_refused(0, {1}, {1, 1, 1}, "the slopes of its calibration do not fit");
  expect_refused(0, {1, 1}, {1, 1, 1}, "the knots");
  expect_refused(0, {2, 1}, {1, 1, 1}, "the knots");
  expect_refused(0, {1, kNan}, {1, 1, 1}, "the knots");
  expect_refused(0, {1, kInfinity}, {1, 1, 1}, "the knots");
  expect_refused(0, {1}, {1, kNan}, "the slopes of its calibration are not all numbers");
  expect_refused(0, {1}, {-kInfinity, 1}, "the slopes of its calibration are not all numbers");
}

}  // namespace
}  // namespace elias
