// The k largest of a row, slow and obvious.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace elias::reference {

/// Their ids in order: falling, of equals the lower id first, NaN last.
template <typename T>
std::vector<int32_t> top_k(std::span<const T> scores, size_t k) {
  std::vector<int32_t> ids(scores.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, [&](int32_t a, int32_t b) {
    return scores[a] > scores[b] || (std::isnan(scores[b]) && !std::isnan(scores[a]));
  });
  ids.resize(k);
  return ids;
}

}  // namespace elias::reference
