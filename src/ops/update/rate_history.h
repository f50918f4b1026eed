// The learning rates of all steps so far: what rows that were left alone need to make up for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/errors.h"

namespace elias {

class RateHistory {
 public:
  RateHistory() = default;
  /// As saved: rates[t - 1] is that of step t. Throws InputError as add does.
  explicit RateHistory(std::span<const float> rates);

  /// Begins the next step. Throws InputError unless its rate is finite and not negative.
  void add(float rate);

  /// The number of steps begun; they count from 1.
  int64_t steps() const { return static_cast<int64_t>(rates_.size()); }
  float rate(int64_t step) const {
    ELIAS_ASSERT(step >= 1 && step <= steps());
    return rates_[step - 1];
  }
  std::span<const float> rates() const { return rates_; }

 private:
  std::vector<float> rates_;
};

}  // namespace elias
