// The losses of one entry in double, straight from their formulas (head/losses.h).
#pragma once

#include <algorithm>
#include <cmath>

namespace elias::reference {

inline double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }
// log(1 / (1 + exp(-z))), which a large -z does not overflow.
inline double log_sigmoid(double z) {
  return z < 0 ? z - std::log1p(std::exp(z)) : -std::log1p(std::exp(-z));
}

inline double floored(double log) { return std::max(-100.0, log); }

// 1 - yhat sigma, without cancellation.
inline double rest_of(double z, double yhat) { return (1 - yhat) + yhat * sigmoid(-z); }

inline double loss_on_p(double z, double log_yhat, double t) {
  const double yhat = std::exp(log_yhat);
  double loss = -t * floored(log_yhat + log_sigmoid(z));
  if (t < 1) loss -= (1 - t) * floored(std::log(rest_of(z, yhat)));
  return loss;
}

inline double loss_on_z(double z, double t) {
  return -t * floored(log_sigmoid(z)) - (1 - t) * floored(log_sigmoid(-z));
}

}  // namespace elias::reference
