// Layer norm, slow and obvious. x [N, D] row by row.
#pragma once

#include <cmath>
#include <vector>

namespace elias::reference {

template <typename T>
struct LayerNorm {
  std::vector<T> y;
  std::vector<T> unit;     // (x - mean) / deviation
  std::vector<T> inverse;  // 1 / deviation, a row each
};

template <typename T>
LayerNorm<T> layer_norm(const std::vector<T>& x, const std::vector<T>& gain,
                        const std::vector<T>& bias, T epsilon) {
  const size_t D = gain.size();
  const size_t N = x.size() / D;
  LayerNorm<T> result{std::vector<T>(x.size()), std::vector<T>(x.size()), std::vector<T>(N)};
  for (size_t n = 0; n < N; ++n) {
    T mean = 0;
    for (size_t i = 0; i < D; ++i) mean += x[n * D + i] / static_cast<T>(D);
    T variance = 0;
    for (size_t i = 0; i < D; ++i) {
      variance += (x[n * D + i] - mean) * (x[n * D + i] - mean) / static_cast<T>(D);
    }
    result.inverse[n] = 1 / std::sqrt(variance + epsilon);
    for (size_t i = 0; i < D; ++i) {
      result.unit[n * D + i] = (x[n * D + i] - mean) * result.inverse[n];
      result.y[n * D + i] = result.unit[n * D + i] * gain[i] + bias[i];
    }
  }
  return result;
}

template <typename T>
struct LayerNormGradient {
  std::vector<T> dx, dgain, dbias;
};

template <typename T>
LayerNormGradient<T> layer_norm_backward(const std::vector<T>& dy, const LayerNorm<T>& forward,
                                         const std::vector<T>& gain) {
  const size_t D = gain.size();
  const size_t N = dy.size() / D;
  LayerNormGradient<T> result{std::vector<T>(N * D), std::vector<T>(D), std::vector<T>(D)};
  for (size_t n = 0; n < N; ++n) {
    const T* u = forward.unit.data() + n * D;
    T mean_g = 0;
    T mean_gu = 0;
    for (size_t i = 0; i < D; ++i) {
      result.dgain[i] += dy[n * D + i] * u[i];
      result.dbias[i] += dy[n * D + i];
      mean_g += dy[n * D + i] * gain[i] / static_cast<T>(D);
      mean_gu += dy[n * D + i] * gain[i] * u[i] / static_cast<T>(D);
    }
    for (size_t i = 0; i < D; ++i) {
      result.dx[n * D + i] =
          forward.inverse[n] * (dy[n * D + i] * gain[i] - mean_g - u[i] * mean_gu);
    }
  }
  return result;
}

}  // namespace elias::reference
