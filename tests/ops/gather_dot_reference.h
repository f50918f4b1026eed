// Gathered dot products, slow and obvious. x [N, D], w [L, D], bias [L], ids [N, K], z [N, K].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace elias::reference {

template <typename T>
std::vector<T> gather_dot(const std::vector<T>& x, const std::vector<T>& w,
                          const std::vector<T>& bias, std::span<const int32_t> ids, size_t K,
                          size_t D) {
  std::vector<T> z(ids.size());
  for (size_t p = 0; p < ids.size(); ++p) {
    if (ids[p] == -1) continue;
    z[p] = bias[ids[p]];
    for (size_t i = 0; i < D; ++i) z[p] += x[p / K * D + i] * w[ids[p] * D + i];
  }
  return z;
}

template <typename T>
struct GatherDotGradient {
  std::vector<T> dx, dw, dbias;
};

template <typename T>
GatherDotGradient<T> gather_dot_backward(const std::vector<T>& dz, const std::vector<T>& x,
                                         const std::vector<T>& w, std::span<const int32_t> ids,
                                         size_t K, size_t D) {
  GatherDotGradient<T> result{std::vector<T>(x.size()), std::vector<T>(w.size()),
                              std::vector<T>(w.size() / D)};
  for (size_t p = 0; p < ids.size(); ++p) {
    if (ids[p] == -1) continue;
    result.dbias[ids[p]] += dz[p];
    for (size_t i = 0; i < D; ++i) {
      result.dx[p / K * D + i] += dz[p] * w[ids[p] * D + i];
      result.dw[ids[p] * D + i] += dz[p] * x[p / K * D + i];
    }
  }
  return result;
}

}  // namespace elias::reference
