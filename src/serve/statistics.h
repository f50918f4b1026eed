// What a service counts of itself: how much was asked, refused and answered, and how long it took.
//
// Counting is lock-free, reading gives a copy. Durations fall into buckets of fixed bounds, each
// about twice the one before, as monitoring systems expect them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace elias {

class Histogram {
 public:
  static constexpr size_t kBuckets = 16;
  /// Upper bounds of all buckets but the last, which has none.
  static constexpr std::array<double, kBuckets - 1> kBounds = {
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
      0.05,   0.1,     0.25,   0.5,   1,      2.5,   10};  // seconds

  struct Counts {
    std::array<uint64_t, kBuckets> buckets{};  // each alone, not summed up
    double sum = 0;                            // seconds

    uint64_t count() const;
  };

  void add(std::chrono::nanoseconds duration);
  Counts counts() const;

 private:
  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
  std::atomic<uint64_t> nanoseconds_{0};
};

struct ServiceCounts {
  uint64_t requests = 0, texts = 0;                           // taken in
  uint64_t full = 0, overdue = 0, cancelled = 0, failed = 0;  // requests that were not answered
  uint64_t batches = 0, predicted_texts = 0;                  // what the replicas did
  uint64_t waiting_texts = 0;                                 // now
  Histogram::Counts waiting, answering;  // from arrival to a replica, and to the answer
};

class ServiceStatistics {
 public:
  std::atomic<uint64_t> requests{0}, texts{0};
  std::atomic<uint64_t> full{0}, overdue{0}, cancelled{0}, failed{0};
  std::atomic<uint64_t> batches{0}, predicted_texts{0};
  Histogram waiting, answering;

  ServiceCounts counts() const;
};

}  // namespace elias
