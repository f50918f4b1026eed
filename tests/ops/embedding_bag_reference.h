// Embedding bag, slow and obvious. table [V, D] row by row, y [N, D].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace elias::reference {

struct BagsOf {
  std::span<const int32_t> offsets;
  std::span<const int32_t> ids;
  std::span<const float> weights;

  size_t points() const { return offsets.size() - 1; }
};

template <typename T>
std::vector<T> embedding_bag(const BagsOf& bags, const std::vector<T>& table, size_t D) {
  std::vector<T> y(bags.points() * D);
  for (size_t n = 0; n < bags.points(); ++n) {
    for (int32_t e = bags.offsets[n]; e < bags.offsets[n + 1]; ++e) {
      for (size_t i = 0; i < D; ++i) {
        y[n * D + i] += static_cast<T>(bags.weights[e]) * table[bags.ids[e] * D + i];
      }
    }
  }
  return y;
}

/// The gradient of all of the table.
template <typename T>
std::vector<T> embedding_bag_backward(const BagsOf& bags, const std::vector<T>& dy, size_t V,
                                      size_t D) {
  std::vector<T> dtable(V * D);
  for (size_t n = 0; n < bags.points(); ++n) {
    for (int32_t e = bags.offsets[n]; e < bags.offsets[n + 1]; ++e) {
      for (size_t i = 0; i < D; ++i) {
        dtable[bags.ids[e] * D + i] += static_cast<T>(bags.weights[e]) * dy[n * D + i];
      }
    }
  }
  return dtable;
}

}  // namespace elias::reference
