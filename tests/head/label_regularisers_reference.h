// The regularisers of label embeddings by their definitions, in double precision.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "head/label_regularisers.h"

namespace elias::reference {

struct LabelBlock {
  size_t labels, width;
  std::vector<double> v;  // [R, D]
  std::vector<double> u;  // [R, R]

  double product(size_t i, size_t j) const {
    double sum = 0;
    for (size_t d = 0; d < width; ++d) sum += v[i * width + d] * v[j * width + d];
    return sum;
  }
};

inline double regulariser(Regulariser kind, const LabelBlock& block) {
  const size_t R = block.labels;
  double sum = 0;
  for (size_t i = 0; i < R; ++i) {
    for (size_t j = 0; j < R; ++j) {
      if (i == j) continue;
      const double g = block.product(i, j), u = block.u[i * R + j];
      if (kind == Regulariser::kGlas) sum += (g - u) * (g - u);
      if (kind == Regulariser::kSpreadout) sum += g * g;
      if (kind != Regulariser::kLaplacian) continue;
      for (size_t d = 0; d < block.width; ++d) {
        const double apart = block.v[i * block.width + d] - block.v[j * block.width + d];
        sum += u * apart * apart;
      }
    }
  }
  return sum / static_cast<double>(R * R);
}

/// Of phi [N, D] and v [R, D].
inline double gravity(std::span<const double> phi, std::span<const double> v, size_t width) {
  const size_t N = phi.size() / width, R = v.size() / width;
  double sum = 0;
  for (size_t i = 0; i < N; ++i) {
    for (size_t j = 0; j < R; ++j) {
      double score = 0;
      for (size_t d = 0; d < width; ++d) score += phi[i * width + d] * v[j * width + d];
      sum += score * score;
    }
  }
  return sum / static_cast<double>(N * R);
}

}  // namespace elias::reference
