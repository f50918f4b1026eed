// What is counted label by label: the ground of coverage, F1 and the table of labels.
//
// There is one set of totals for all threads; a set for each would cost threads x labels of memory.
// A thread notes down what it finds in a Batch of its own and adds that in one go. The totals are
// whole numbers, so the order in which batches arrive does not show.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

#include "metrics/ranked_hits.h"

namespace elias {

/// The harmonic mean of precision and recall; 0 where nothing is true and nothing predicted.
inline double f1_score(uint64_t hits, uint64_t predicted, uint64_t positives) {
  return predicted + positives > 0
             ? 2.0 * static_cast<double>(hits) / static_cast<double>(predicted + positives)
             : 0;
}

class LabelTotals {
 public:
  static constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();

  struct Batch {
    std::vector<Hit> hits;
    std::vector<uint32_t> predicted;  // labels of the pairs that reach the threshold
    std::vector<uint32_t> listed;     // labels in the first k of a list
  };

  /// Hits count at the threshold from this score on, or that of their label, and in the first k
  /// from this rank down.
  LabelTotals(size_t labels, float threshold, std::span<const float> label_thresholds, uint32_t k)
      : best_rank(labels, kNever),
        predicted(labels),
        hits(labels),
        listed(labels),
        listed_hits(labels),
        threshold_(threshold),
        label_thresholds_(label_thresholds),
        k_(k) {}

  /// Adds the batch and empties it.
  void add(Batch& batch) {
    {
      const std::lock_guard lock(mutex_);
      for (const uint32_t label : batch.predicted) ++predicted[label];
      for (const uint32_t label : batch.listed) ++listed[label];
      for (const Hit& hit : batch.hits) {
        best_rank[hit.label] = std::min(best_rank[hit.label], hit.rank);
        hits[hit.label] += hit.score >= threshold_of(hit.label);
        listed_hits[hit.label] += hit.rank <= k_;
      }
    }
    batch.hits.clear();
    batch.predicted.clear();
    batch.listed.clear();
  }

  std::vector<uint32_t> best_rank;            // of its hits; kNever if it has none
  std::vector<uint32_t> predicted, hits;      // at the threshold
  std::vector<uint32_t> listed, listed_hits;  // in the first k

 private:
  float threshold_of(uint32_t label) const {
    return label_thresholds_.empty() ? threshold_ : label_thresholds_[label];
  }

  float threshold_;
  std::span<const float> label_thresholds_;
  uint32_t k_;
  std::mutex mutex_;
};

}  // namespace elias
