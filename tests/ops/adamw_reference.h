// AdamW, slow and obvious: every element moves at every step.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/update/adamw.h"

namespace elias::reference {

template <typename T>
struct AdamW {
  std::vector<T> w, m, v;
  std::vector<T> travel;  // the sum of the sizes of all moves
};

template <typename T>
AdamW<T> adamw_start(const std::vector<T>& w, const std::vector<T>& m, const std::vector<T>& v) {
  return {w, m, v, std::vector<T>(w.size())};
}

template <typename T>
void adamw(const AdamWSettings& settings, T rate, int64_t step, const std::vector<T>& g,
           AdamW<T>& state) {
  const T beta1 = settings.beta1;
  const T beta2 = settings.beta2;
  const T correction1 = 1 - std::pow(beta1, static_cast<T>(step));
  const T correction2 = 1 - std::pow(beta2, static_cast<T>(step));
  for (size_t i = 0; i < g.size(); ++i) {
    state.m[i] = beta1 * state.m[i] + (1 - beta1) * g[i];
    state.v[i] = beta2 * state.v[i] + (1 - beta2) * g[i] * g[i];
    const T m_hat = state.m[i] / correction1;
    const T v_hat = state.v[i] / correction2;
    const T decayed = state.w[i] * rate * static_cast<T>(settings.weight_decay);
    const T move = rate * m_hat / (std::sqrt(v_hat) + static_cast<T>(settings.epsilon));
    state.w[i] -= decayed + move;
    state.travel[i] += std::abs(decayed) + std::abs(move);
  }
}

}  // namespace elias::reference
