#include "ranker/monotone_logistic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/errors.h"

namespace elias {
namespace {

double sigmoid(double t) { return 1 / (1 + std::exp(-t)); }

// log(1 + exp(t)), for any t.
double softplus(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

bool strictly_rising(std::span<const float> knots) {
  return std::ranges::adjacent_find(knots, std::greater_equal()) == knots.end();
}

struct Segment {
  double lower = 0, upper = 0;
  double anchor = 0;  // where its part of f is 0: the end that is nearer to the first knot

  // How far x has come. Rounding keeps the order of two numbers, in this difference as in the
  // products and the sum that log_odds() makes of it: that is why it never falls.
  double way(float x) const { return std::clamp<double>(x, lower, upper) - anchor; }
};

// Segment s of [0, m]. The outer ones end at the largest floats: no product with a slope, which is
// a float too, is infinite.
Segment segment_of(std::span<const float> knots, size_t s) {
  using Limits = std::numeric_limits<float>;
  const double lower = s == 0 ? Limits::lowest() : knots[s - 1];
  const double upper = s == knots.size() ? Limits::max() : knots[s];
  if (knots.empty()) return {lower, upper, 0};
  return {lower, upper, s == 0 ? upper : lower};
}

// The objective around some parameters, to the second order.
struct Quadratic {
  explicit Quadratic(size_t P) : gradient(P), hessian(P * P) {}

  double value = 0;
  std::vector<double> gradient;  // [P]
  std::vector<double> hessian;   // [P, P]
};

// What fit_monotone_logistic() makes smallest, as a function of the parameters: the bias, then the
// slopes of all inputs.
class Objective {
 public:
  Objective(const CalibrationRows& rows, std::span<const PiecewiseInput> inputs,
            const MonotoneLogisticOptions& options);

  const std::vector<double>& priors() const { return priors_; }
  const std::vector<double>& bounds() const { return bounds_; }
  Quadratic around(const std::vector<double>& parameters, ThreadPool& pool) const;

 private:
  struct Slope {
    size_t input = 0;
    Segment segment;
  };

  void add_row(size_t row, const std::vector<double>& parameters, std::vector<double>& ways,
               Quadratic& sums) const;
  void add_ridge(const std::vector<double>& parameters, Quadratic& sums) const;

  CalibrationRows rows_;
  double ridge_;
  size_t inputs_;
  std::vector<Slope> slopes_;   // [P - 1]
  std::vector<double> priors_;  // [P]
  std::vector<double> bounds_;  // [P]: no parameter is below its own
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Objective::Objective(const CalibrationRows& rows, std::span<const PiecewiseInput> inputs,
                     const MonotoneLogisticOptions& options)
    : rows_(rows),
      ridge_(options.ridge),
      inputs_(inputs.size()),
      priors_{options.prior_bias},
      bounds_{-kInfinity} {
  for (size_t j = 0; j < inputs.size(); ++j) {
    const PiecewiseInput& input = inputs[j];
    for (size_t s = 0; s <= input.knots.size(); ++s) {
      slopes_.push_back({j, segment_of(input.knots, s)});
      priors_.push_back(input.prior_slope);
      bounds_.push_back(input.monotone ? 0 : -kInfinity);
    }
  }
}

// `ways` [P]: what the parameters are multiplied with, of which the first is always 1. Segments
// beyond a row's values are many, and cost nothing. Only half of the Hessian is filled.
void Objective::add_row(size_t row, const std::vector<double>& parameters,
                        std::vector<double>& ways, Quadratic& sums) const {
  const size_t P = parameters.size();
  const auto x = rows_.values.subspan(row * inputs_, inputs_);
  double log_odds = parameters[0];
  for (size_t p = 1; p < P; ++p) {
    const Slope& slope = slopes_[p - 1];
    ways[p] = slope.segment.way(x[slope.input]);
    log_odds += parameters[p] * ways[p];
  }
  const double weight = rows_.weights.empty() ? 1.0 : rows_.weights[row];
  const bool target = rows_.targets[row] != 0;
  const double probability = sigmoid(log_odds);
  const double excess = weight * (probability - (target ? 1 : 0));
  const double curvature = weight * probability * (1 - probability);
  sums.value += weight * softplus(target ? -log_odds : log_odds);
  for (size_t p = 0; p < P; ++p) {
    if (ways[p] == 0) continue;
    sums.gradient[p] += excess * ways[p];
    const double scaled = curvature * ways[p];
    double* const hessian = sums.hessian.data() + p * P;
    for (size_t q = 0; q <= p; ++q) hessian[q] += scaled * ways[q];
  }
}

void Objective::add_ridge(const std::vector<double>& parameters, Quadratic& sums) const {
  const size_t P = parameters.size();
  for (size_t p = 0; p < P; ++p) {
    const double off = parameters[p] - priors_[p];
    sums.value += ridge_ / 2 * off * off;
    sums.gradient[p] += ridge_ * off;
    sums.hessian[p * P + p] += ridge_;
  }
}

Quadratic Objective::around(const std::vector<double>& parameters, ThreadPool& pool) const {
  constexpr size_t kRowsPerChunk = 4096;
  const size_t n = rows_.targets.size(), P = parameters.size();
  std::vector<Quadratic> parts(chunk_count(n, kRowsPerChunk), Quadratic(P));
  pool.for_chunks(n, kRowsPerChunk, [&](size_t chunk, size_t begin, size_t end) {
    std::vector<double> ways(P, 1.0);
    for (size_t row = begin; row < end; ++row) add_row(row, parameters, ways, parts[chunk]);
  });
  Quadratic sum(P);
  const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
    std::ranges::transform(to, from, to.begin(), std::plus());
  };
  for (const Quadratic& part : parts) {
    sum.value += part.value;
    add(sum.gradient, part.gradient);
    add(sum.hessian, part.hessian);
  }
  add_ridge(parameters, sum);
  for (size_t p = 0; p < P; ++p) {
    for (size_t q = 0; q < p; ++q) sum.hessian[q * P + p] = sum.hessian[p * P + q];
  }
  return sum;
}

struct Step {
  std::vector<double> move;  // [P]
  double fall = 0;           // of the quadratic
};

// Where the quadratic is smallest within the bounds, one coordinate at a time and round and round.
// A round costs P^2, next to nothing beside a pass over the rows, so there may be many of them, and
// there are where inputs say nearly the same.
Step newton_step(const Quadratic& quadratic, const std::vector<double>& parameters,
                 const std::vector<double>& bounds) {
  constexpr int kMostRounds = 100'000;
  constexpr double kLeastShare = 1e-15;  // of the fall, which a round must still bring
  const size_t P = parameters.size();
  Step step{.move = std::vector<double>(P)};
  std::vector<double> gradient = quadratic.gradient;  // of the quadratic after the move
  for (int round = 0; round < kMostRounds; ++round) {
    double fall = 0;
    for (size_t p = 0; p < P; ++p) {
      const double* const hessian = quadratic.hessian.data() + p * P;
      const double best = step.move[p] - gradient[p] / hessian[p];
      const double bounded = std::max(best, bounds[p] - parameters[p]);
      const double change = bounded - step.move[p];
      if (change == 0) continue;
      fall -= change * (gradient[p] + change * hessian[p] / 2);
      step.move[p] = bounded;
      for (size_t q = 0; q < P; ++q) gradient[q] += change * hessian[q];
    }
    step.fall += fall;
    if (fall <= kLeastShare * step.fall) break;
  }
  return step;
}

// Goes as far along the step, or a half of it, or a quarter, as the objective falls by a fair share
// of what the quadratic promises. False where it never does.
bool descend(const Objective& objective, const Step& whole, std::vector<double>& parameters,
             Quadratic& here, ThreadPool& pool) {
  constexpr int kMostHalvings = 60;
  constexpr double kFairShare = 1e-4;
  double length = 1;
  for (int halving = 0; halving <= kMostHalvings; ++halving, length /= 2) {
    std::vector<double> there = parameters;
    for (size_t p = 0; p < there.size(); ++p) there[p] += length * whole.move[p];
    Quadratic quadratic = objective.around(there, pool);
    if (here.value - quadratic.value < kFairShare * length * whole.fall) continue;
    parameters = std::move(there);
    here = std::move(quadratic);
    return true;
  }
  return false;
}

MonotoneLogistic model_of(const std::vector<double>& parameters,
                          std::span<const PiecewiseInput> inputs) {
  MonotoneLogistic model{.bias = static_cast<float>(parameters[0]), .inputs = {}};
  size_t next = 1;
  for (const PiecewiseInput& input : inputs) {
    auto& [knots, slopes] = model.inputs.emplace_back();
    knots = input.knots;
    for (size_t s = 0; s <= knots.size(); ++s) {
      slopes.push_back(static_cast<float>(parameters[next++]));
    }
  }
  return model;
}

void check_problem(const CalibrationRows& rows, std::span<const PiecewiseInput> inputs,
                   const MonotoneLogisticOptions& options) {
  const size_t n = rows.targets.size();
  ELIAS_ASSERT(rows.values.size() == n * inputs.size() && all_finite(rows.values));
  ELIAS_ASSERT(rows.weights.empty() || rows.weights.size() == n);
  ELIAS_ASSERT(all_finite(rows.weights));
  ELIAS_ASSERT(std::ranges::all_of(rows.weights, [](float weight) { return weight >= 0; }));
  // Without a ridge, a slope that no row has a say in would have no best value.
  ELIAS_ASSERT(options.ridge > 0 && std::isfinite(options.ridge));
  ELIAS_ASSERT(std::isfinite(options.prior_bias));
  for (const PiecewiseInput& input : inputs) {
    ELIAS_ASSERT(all_finite(input.knots) && strictly_rising(input.knots));
    ELIAS_ASSERT(std::isfinite(input.prior_slope) && (!input.monotone || input.prior_slope >= 0));
  }
}

}  // namespace

double MonotoneLogistic::log_odds(std::span<const float> x) const {
  ELIAS_ASSERT(x.size() == inputs.size());
  double sum = bias;
  for (size_t j = 0; j < x.size(); ++j) {
    const auto& [knots, slopes] = inputs[j];
    for (size_t s = 0; s < slopes.size(); ++s) sum += slopes[s] * segment_of(knots, s).way(x[j]);
  }
  return sum;
}

float MonotoneLogistic::probability(std::span<const float> x) const {
  return static_cast<float>(sigmoid(log_odds(x)));
}

void check_monotone_logistic(const MonotoneLogistic& model, const std::string& name) {
  const auto require = [&](bool good, const char* what) {
    if (!good) throw InputError("{}: {}: copy the model again, or train it anew", name, what);
  };
  require(std::isfinite(model.bias), "the bias of its calibration is not a number");
  for (const auto& [knots, slopes] : model.inputs) {
    require(slopes.size() == knots.size() + 1,
            "the slopes of its calibration do not fit its knots");
    require(all_finite(knots) && strictly_rising(knots),
            "the knots of its calibration do not rise");
    require(all_finite(slopes), "the slopes of its calibration are not all numbers");
  }
}

MonotoneLogistic fit_monotone_logistic(const CalibrationRows& rows,
                                       std::span<const PiecewiseInput> inputs,
                                       const MonotoneLogisticOptions& options, ThreadPool& pool) {
  check_problem(rows, inputs, options);
  constexpr int kMostSteps = 50;
  // As a share of the objective, whose own rounding error is far smaller.
  constexpr double kLeastFall = 1e-11;
  const Objective objective(rows, inputs, options);
  std::vector<double> parameters = objective.priors();
  Quadratic here = objective.around(parameters, pool);
  for (int step = 0; step < kMostSteps; ++step) {
    const Step whole = newton_step(here, parameters, objective.bounds());
    if (whole.fall <= kLeastFall * here.value) break;
    if (!descend(objective, whole, parameters, here, pool)) break;
  }
  return model_of(parameters, inputs);
}

std::vector<float> quantile_knots(std::vector<float> values, std::span<const double> shares) {
  ELIAS_ASSERT(all_finite(values));
  if (values.empty()) return {};
  std::ranges::sort(values);
  std::vector<float> knots;
  for (const double share : shares) {
    ELIAS_ASSERT(share >= 0 && share <= 1);
    knots.push_back(values[std::lround(share * static_cast<double>(values.size() - 1))]);
  }
  std::ranges::sort(knots);
  knots.erase(std::unique(knots.begin(), knots.end()), knots.end());
  return knots;
}

}  // namespace elias
