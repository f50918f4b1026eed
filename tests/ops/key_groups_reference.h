// Grouping and reduction by key, slow and obvious.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace elias::reference {

/// The positions of each key, without pads.
using Groups = std::map<int32_t, std::vector<int32_t>>;

inline Groups group_by_key(std::span<const int32_t> keys) {
  Groups groups;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != -1) groups[keys[i]].push_back(static_cast<int32_t>(i));
  }
  return groups;
}

/// values [n, D], the result [R, D].
template <typename T>
std::vector<T> sum_by_key(const Groups& groups, const std::vector<T>& values, size_t D) {
  std::vector<T> sums;
  for (const auto& [key, positions] : groups) {
    std::vector<T> sum(D);
    for (const int32_t position : positions) {
      for (size_t i = 0; i < D; ++i) sum[i] += values[position * D + i];
    }
    sums.insert(sums.end(), sum.begin(), sum.end());
  }
  return sums;
}

/// Whether a comes before b in falling order, a NaN last.
template <typename T>
bool greater_or_number(T a, T b) {
  return a > b || (std::isnan(b) && !std::isnan(a));
}

/// Where each group's largest value is.
template <typename T>
std::vector<int32_t> max_by_key(const Groups& groups, const std::vector<T>& values) {
  std::vector<int32_t> found;
  for (const auto& [key, positions] : groups) {
    int32_t best = positions[0];
    for (const int32_t position : positions) {
      if (greater_or_number(values[position], values[best])) best = position;
    }
    found.push_back(best);
  }
  return found;
}

}  // namespace elias::reference
