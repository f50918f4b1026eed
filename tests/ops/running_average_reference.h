// The running average, slow and obvious.
#pragma once

#include <cstdint>
#include <vector>

namespace elias::reference {

template <typename T>
void running_average(const std::vector<T>& weights, int64_t count, std::vector<T>& average) {
  for (size_t i = 0; i < weights.size(); ++i) {
    average[i] += (weights[i] - average[i]) / static_cast<T>(count);
  }
}

}  // namespace elias::reference
