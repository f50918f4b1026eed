// The residual norm, as what it is made of: dropout, an addition and a layer norm.
#pragma once

#include <vector>

#include "tests/ops/dropout_reference.h"
#include "tests/ops/layer_norm_reference.h"

namespace elias::reference {

template <typename T>
struct ResidualNorm {
  std::vector<T> sum;
  LayerNorm<T> norm;
};

template <typename T>
ResidualNorm<T> residual_norm(const std::vector<T>& x, const std::vector<T>& residual,
                              const std::vector<T>& gain, const std::vector<T>& shift, T epsilon,
                              float rate, DropoutKey key) {
  std::vector<T> sum = dropout(x, rate, key);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += residual[i];
  return {sum, layer_norm(sum, gain, shift, epsilon)};
}

template <typename T>
struct ResidualNormGradient {
  std::vector<T> dx, dresidual, dgain, dshift;
};

template <typename T>
ResidualNormGradient<T> residual_norm_backward(const std::vector<T>& dy,
                                               const ResidualNorm<T>& forward,
                                               const std::vector<T>& gain, float rate,
                                               DropoutKey key) {
  const auto norm = layer_norm_backward(dy, forward.norm, gain);
  return {dropout(norm.dx, rate, key), norm.dx, norm.dgain, norm.dbias};
}

}  // namespace elias::reference
