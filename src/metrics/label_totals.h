// What is counted label by label: the ground of coverage, F1 and the table of labels.
//
// These are whole numbers, so threads may add to one shared set in any order and the result is the
// same; a set for each thread would cost threads x labels of memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

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

  explicit LabelTotals(size_t labels)
      : best_rank(labels, kNever), predicted(labels), hits(labels) {}

  static void count(uint32_t& total) {
    std::atomic_ref(total).fetch_add(1, std::memory_order_relaxed);
  }
  static void lower(uint32_t& least, uint32_t value) {
    std::atomic_ref shared(least);
    uint32_t seen = shared.load(std::memory_order_relaxed);
    while (value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }

  std::vector<uint32_t> best_rank;            // of its hits; kNever if it has none
  std::vector<uint32_t> predicted, hits;      // at the threshold
  std::vector<uint32_t> listed, listed_hits;  // in the top k; empty unless asked for
};

}  // namespace elias
