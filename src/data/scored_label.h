// A label with its score, and the order of such labels, the same wherever they are ranked.
#pragma once

#include <cstdint>

namespace elias {

struct ScoredLabel {
  float score = 0;
  int32_t label = -1;
};

/// Best first; of equal scores the lower label.
inline bool is_better(const ScoredLabel& a, const ScoredLabel& b) {
  return a.score != b.score ? a.score > b.score : a.label < b.label;
}

}  // namespace elias
