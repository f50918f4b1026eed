// A small random ranker for a small random model.
#pragma once

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/thread_pool.h"
#include "model/reranker.h"
#include "tests/model/tiny_model.h"

namespace elias {

class TinyRanker {
 public:
  /// Label 0 has no weights.
  TinyRanker(const TinySizes& sizes, RankerParts parts, MixKind mix, int64_t top)
      : part_{.weights = {},
              .input = {.parts = parts, .most_words = 3},
              .top = top,
              .mix = {},
              .label_counts = {}} {
    RandomSequence random(sizes.seed, 77);
    const int64_t columns = ranker_columns(part_.input, sizes.V, sizes.D);
    for (int64_t l = 0; l < sizes.L; ++l) {
      for (int64_t v = 0; l > 0 && v < columns; ++v) {
        if (random.below(3) > 0) continue;
        weights_.ids.push_back(static_cast<uint32_t>(v));
        weights_.weights.push_back(static_cast<float>(2 * random.uniform() - 1));
      }
      weights_.offsets.push_back(static_cast<int64_t>(weights_.ids.size()));
      weights_.bias.push_back(static_cast<float>(random.uniform() - 0.5));
      counts_.push_back(random.below(100));
    }
    std::vector<FoundLabel> found;
    std::vector<uint8_t> is_true;
    for (int i = 0; i < 200; ++i) {
      found.push_back({.p = static_cast<float>(random.uniform()),
                       .margin = static_cast<float>(4 * random.uniform() - 2),
                       .count = random.below(100)});
      is_true.push_back(random.uniform() < double{found.back().p} ? 1 : 0);
    }
    ThreadPool pool(1);
    part_.mix = fit_mix(mix, RankerLoss::kSquaredHinge, found, is_true, pool);
  }

  RankerPart part() const {
    RankerPart part = part_;
    part.weights = weights_.view();
    part.label_counts = counts_;
    return part;
  }
  const std::vector<uint64_t>& counts() const { return counts_; }
  SparseRanker& weights() { return weights_; }

 private:
  RankerPart part_;
  SparseRanker weights_;
  std::vector<uint64_t> counts_;
};

}  // namespace elias
