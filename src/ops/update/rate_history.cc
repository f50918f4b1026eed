#include "ops/update/rate_history.h"

#include <cmath>

namespace elias {

RateHistory::RateHistory(std::span<const float> rates) {
  rates_.reserve(rates.size());
  for (const float rate : rates) add(rate);
}

void RateHistory::add(float rate) {
  if (!(rate >= 0) || !std::isfinite(rate)) {
    throw InputError("the rate of step {} is {}, but must be finite and not negative", steps() + 1,
                     rate);
  }
  rates_.push_back(rate);
}

}  // namespace elias
