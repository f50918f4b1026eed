#include "serve/statistics.h"

#include <algorithm>
#include <numeric>

namespace elias {

uint64_t Histogram::Counts::count() const {
  return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
}

void Histogram::add(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  const auto* const bound = std::ranges::lower_bound(kBounds, seconds);
  buckets_[static_cast<size_t>(bound - kBounds.begin())].fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(static_cast<uint64_t>(duration.count()), std::memory_order_relaxed);
}

Histogram::Counts Histogram::counts() const {
  Counts counts;
  for (size_t b = 0; b < kBuckets; ++b) {
    counts.buckets[b] = buckets_[b].load(std::memory_order_relaxed);
  }
  counts.sum = 1e-9 * static_cast<double>(nanoseconds_.load(std::memory_order_relaxed));
  return counts;
}

ServiceCounts ServiceStatistics::counts() const {
  return {.requests = requests,
          .texts = texts,
          .full = full,
          .overdue = overdue,
          .cancelled = cancelled,
          .failed = failed,
          .batches = batches,
          .predicted_texts = predicted_texts,
          .waiting_texts = 0,
          .waiting = waiting.counts(),
          .answering = answering.counts()};
}

}  // namespace elias
