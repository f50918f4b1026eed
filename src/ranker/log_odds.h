// Scores of the search as log odds, the form in which probabilities add up.
#pragma once

#include <algorithm>
#include <cmath>

namespace elias {

/// log(p / (1 - p)), finite for any p: where p is 0 or 1 to the precision of floats, the distance
/// is no longer worth anything.
inline float log_odds(float p) {
  constexpr float kLeast = 1e-9F, kMost = 1 - 1e-6F;
  const float held = std::clamp(p, kLeast, kMost);
  return std::log(held / (1 - held));
}

}  // namespace elias
