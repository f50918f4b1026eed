// The products of a linear layer, slow and obvious. x [N, D], W [O, D], y and dy [N, O].
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace elias::reference {

template <typename T>
std::vector<T> linear(const std::vector<T>& x, const std::vector<T>& w, const std::vector<T>& bias,
                      bool relu, size_t N, size_t D, size_t O) {
  std::vector<T> y(N * O);
  for (size_t n = 0; n < N; ++n) {
    for (size_t o = 0; o < O; ++o) {
      T sum = bias.empty() ? T(0) : bias[o];
      for (size_t d = 0; d < D; ++d) sum += x[n * D + d] * w[o * D + d];
      y[n * O + o] = relu ? std::max(T(0), sum) : sum;
    }
  }
  return y;
}

template <typename T>
T gelu(T x) {
  return x * std::erfc(-x * std::numbers::sqrt2_v<T> / 2) / 2;
}

template <typename T>
T gelu_slope(T x) {
  const T density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  return std::erfc(-x * std::numbers::sqrt2_v<T> / 2) / 2 + x * density;
}

template <typename T>
std::vector<T> linear_input_gradient(const std::vector<T>& dy, const std::vector<T>& w, size_t N,
                                     size_t D, size_t O) {
  std::vector<T> dx(N * D);
  for (size_t n = 0; n < N; ++n) {
    for (size_t o = 0; o < O; ++o) {
      for (size_t d = 0; d < D; ++d) dx[n * D + d] += dy[n * O + o] * w[o * D + d];
    }
  }
  return dx;
}

template <typename T>
std::vector<T> linear_weight_gradient(const std::vector<T>& dy, const std::vector<T>& x, size_t N,
                                      size_t D, size_t O) {
  std::vector<T> dw(O * D);
  for (size_t n = 0; n < N; ++n) {
    for (size_t o = 0; o < O; ++o) {
      for (size_t d = 0; d < D; ++d) dw[o * D + d] += dy[n * O + o] * x[n * D + d];
    }
  }
  return dw;
}

template <typename T>
std::vector<T> linear_bias_gradient(const std::vector<T>& dy, size_t N, size_t O) {
  std::vector<T> db(O);
  for (size_t n = 0; n < N; ++n) {
    for (size_t o = 0; o < O; ++o) db[o] += dy[n * O + o];
  }
  return db;
}

}  // namespace elias::reference
