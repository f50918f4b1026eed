// A calibrated probability from a few scores, which never falls where a score that ought to raise
// it rises.
//
//   probability = sigmoid(bias + sum over inputs j of f_j(x_j))
//
// with f_j piecewise linear. The knots of an input are given and its slopes are learnt: one up to
// the first knot, one between any two, and one from the last on. f_j is 0 at the first knot, or at
// 0 if there is none, so that it is a sum of slopes times how far x_j has come in their segments.
// The log odds are linear in all parameters then, and monotone means no more than slopes >= 0: the
// fit is a convex problem of a few parameters, which Newton's method solves in about ten passes
// over the rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"

namespace elias {

struct MonotoneLogistic {
  struct Input {
    std::vector<float> knots;   // [m], strictly rising
    std::vector<float> slopes;  // [m + 1]
  };

  float bias = 0;
  std::vector<Input> inputs;  // [J]

  /// `x` [J] must not hold a NaN. Finite, and where the slopes of an input are not negative never
  /// falling in it, to the last bit.
  double log_odds(std::span<const float> x) const;
  float probability(std::span<const float> x) const;
};

/// Throws InputError, with the name of the file, if `model` is not one that log_odds() can take.
void check_monotone_logistic(const MonotoneLogistic& model, const std::string& name);

/// What is known of an input before the fit.
struct PiecewiseInput {
  std::vector<float> knots{};  // strictly rising
  bool monotone = true;        // all slopes >= 0
  float prior_slope = 0;       // of every segment
};

/// What to learn from. All numbers must be finite.
struct CalibrationRows {
  std::span<const float> values;     // [n, J]
  std::span<const uint8_t> targets;  // [n] 1: it was true; 0: it was not
  std::span<const float> weights{};  // [n], >= 0; none: all are 1
};

struct MonotoneLogisticOptions {
  double ridge = 1;  // > 0
  float prior_bias = 0;
};

/// The model that makes
///
///   -sum over rows of weight * log(probability of the target)
///   + ridge / 2 * sum over slopes and bias of (parameter - prior)^2
///
/// smallest: without rows, the prior.
MonotoneLogistic fit_monotone_logistic(const CalibrationRows& rows,
                                       std::span<const PiecewiseInput> inputs,
                                       const MonotoneLogisticOptions& options, ThreadPool& pool);

/// Those of `values`, all finite, that have the given shares of the others below them, strictly
/// rising: fewer than there are shares where values are the same.
std::vector<float> quantile_knots(std::vector<float> values, std::span<const double> shares);

}  // namespace elias
