// The streams of random numbers that initial values are made of, and how large these are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/tensor.h"

namespace elias {

/// No two are of the same parameter; those of layers follow on kLayerValues.
enum InitialStream : uint64_t {
  kTableValues = 1,
  kClusterValues,
  kClusterBiasValues,
  kLabelValues,
  kLabelBiasValues,
  kLayerValues = 16
};

/// Of what reads vectors of that width.
inline float uniform_bound(int64_t width) { return 1 / std::sqrt(static_cast<float>(width)); }

inline void fill(TensorView weights, float value) {
  std::ranges::fill(weights.span<float>(), value);
}

}  // namespace elias
