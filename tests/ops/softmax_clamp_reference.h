// Softmax and clamp, slow and obvious. z [N, C] row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace elias::reference {

template <typename T>
struct SoftmaxClamp {
  std::vector<T> s;
  std::vector<T> p;        // the softmax, before scale and clamp
  std::vector<T> log_sum;  // a row each
};

template <typename T>
SoftmaxClamp<T> softmax_clamp(const std::vector<T>& z, size_t C, T scale) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const size_t N = z.size() / C;
  SoftmaxClamp<T> result{std::vector<T>(z.size()), std::vector<T>(z.size()), std::vector<T>(N)};
  for (size_t n = 0; n < N; ++n) {
    T largest = -kInfinity;
    for (size_t i = 0; i < C; ++i) largest = std::max(largest, z[n * C + i]);
    result.log_sum[n] = -kInfinity;
    if (largest == -kInfinity) continue;
    T sum = 0;
    for (size_t i = 0; i < C; ++i) sum += std::exp(z[n * C + i] - largest);
    result.log_sum[n] = largest + std::log(sum);
    for (size_t i = 0; i < C; ++i) {
      const T p = std::exp(z[n * C + i] - largest) / sum;
      result.p[n * C + i] = p;
      result.s[n * C + i] = std::min(T{1}, scale * p);
    }
  }
  return result;
}

// dz of ds, with the p of the forward pass.
template <typename T>
std::vector<T> softmax_clamp_backward(const std::vector<T>& ds, const SoftmaxClamp<T>& forward,
                                      size_t C, T scale) {
  const size_t N = ds.size() / C;
  std::vector<T> dz(ds.size());
  for (size_t n = 0; n < N; ++n) {
    const T* p = forward.p.data() + n * C;
    const auto dp = [&](size_t i) { return scale * p[i] <= 1 ? scale * ds[n * C + i] : 0; };
    T mean = 0;
    for (size_t i = 0; i < C; ++i) mean += dp(i) * p[i];
    for (size_t i = 0; i < C; ++i) dz[n * C + i] = p[i] * (dp(i) - mean);
  }
  return dz;
}

}  // namespace elias::reference
