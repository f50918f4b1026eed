// Stochastic gradient descent with momentum, slow and obvious: every element moves at every step.
#pragma once

#include <cmath>
#include <vector>

#include "ops/update/sgd.h"

namespace elias::reference {

template <typename T>
struct Sgd {
  std::vector<T> w, u;
  std::vector<T> travel;  // the sum of the sizes of all moves
};

template <typename T>
Sgd<T> sgd_start(const std::vector<T>& w, const std::vector<T>& u) {
  return {w, u, std::vector<T>(w.size())};
}

template <typename T>
void sgd(const SgdSettings& settings, T rate, const std::vector<T>& g, Sgd<T>& state) {
  for (size_t i = 0; i < g.size(); ++i) {
    state.u[i] = static_cast<T>(settings.momentum) * state.u[i] + g[i];
    const T decayed = state.w[i] * rate * static_cast<T>(settings.weight_decay);
    state.w[i] -= decayed + rate * state.u[i];
    state.travel[i] += std::abs(decayed) + std::abs(rate * state.u[i]);
  }
}

}  // namespace elias::reference
