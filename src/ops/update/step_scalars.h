// The scalars of one optimiser step, the same for all elements: made in double, once a step.
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/update/adamw.h"
#include "ops/update/sgd.h"

namespace elias {

/// m = beta1 m + rest1 g,  v = beta2 v + rest2 g^2,
/// w = weight_factor w - pull m / (inflation sqrt(v) + epsilon).
struct AdamWStep {
  AdamWStep(const AdamWSettings& settings, float rate, int64_t step)
      : beta1(settings.beta1),
        rest1(1 - settings.beta1),
        beta2(settings.beta2),
        rest2(1 - settings.beta2),
        weight_factor(static_cast<float>(1 - double{rate} * double{settings.weight_decay})),
        pull(static_cast<float>(double{rate} / (1 - power(settings.beta1, step)))),
        inflation(static_cast<float>(1 / std::sqrt(1 - power(settings.beta2, step)))),
        epsilon(settings.epsilon) {}

  float beta1, rest1;
  float beta2, rest2;
  float weight_factor;
  float pull;
  float inflation;
  float epsilon;

 private:
  static double power(float beta, int64_t step) {
    return std::pow(double{beta}, static_cast<double>(step));
  }
};

/// u = momentum u + g,  w = weight_factor w - rate u.
struct SgdStep {
  SgdStep(const SgdSettings& settings, float step_rate)
      : weight_factor(static_cast<float>(1 - double{step_rate} * double{settings.weight_decay})),
        rate(step_rate),
        momentum(settings.momentum) {}

  float weight_factor;
  float rate;
  float momentum;
};

}  // namespace elias
