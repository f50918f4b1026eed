// Which values scores take: what may be computed from them depends on it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace elias {

struct ScoreRange {
  bool finite = true;         // neither infinite nor NaN
  bool probabilities = true;  // all in [0, 1]
};

inline ScoreRange score_range(std::span<const float> scores) {
  // A sum of comparisons, without a way out in the middle, is what compilers vectorise.
  uint32_t inside = 0;
  for (const float score : scores) {
    inside += static_cast<uint32_t>(score >= 0.0f) & static_cast<uint32_t>(score <= 1.0f);
  }
  if (inside == scores.size()) return {};
  const bool finite =
      std::all_of(scores.begin(), scores.end(), [](float score) { return std::isfinite(score); });
  return {finite, false};
}

}  // namespace elias
