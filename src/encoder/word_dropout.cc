// Two passes over the batch: one counts what stays of each point, the other puts it in its place.
#include "encoder/word_dropout.h"

#include <array>
#include <limits>

#include "base/errors.h"
#include "base/random.h"

namespace elias {
namespace {

constexpr size_t kPointsPerChunk = 64;

constexpr uint32_t low(uint64_t bits) { return static_cast<uint32_t>(bits); }
constexpr uint32_t high(uint64_t bits) { return static_cast<uint32_t>(bits >> 32); }

class WordDropout {
 public:
  WordDropout(float rate, uint64_t seed, uint64_t step)
      : threshold_(static_cast<uint64_t>(double{rate} * 0x1p32)),
        seed_(seed),
        stream_((uint64_t{2} << 56) + step) {
    ELIAS_ASSERT(rate >= 0 && rate < 1);
  }

  // Calls body(i) for the features i of [0, size) that stay; returns how many do. Feature i is
  // decided by word i % 4 of a random block that is its point's number i / 4.
  template <typename Body>
  size_t for_kept(uint32_t point, size_t size, const Body& body) const {
    size_t kept = 0;
    std::array<uint32_t, 4> words{};
    for (size_t i = 0; i < size; ++i) {
      if (threshold_ > 0 && i % 4 == 0) {
        words = philox({low(i / 4), point, low(stream_), high(stream_)}, {low(seed_), high(seed_)});
      }
      if (words[i % 4] < threshold_) continue;
      body(i);
      ++kept;
    }
    if (kept > 0 || size == 0) return kept;
    body(0);
    return 1;
  }

 private:
  uint64_t threshold_;  // of 2^32
  uint64_t seed_;
  uint64_t stream_;  // not that of the dropout of phi
};

}  // namespace

Bags BagBatch::view() const {
  const int64_t size = offsets_.back();
  return {.offsets = {offsets_.data(), {static_cast<int64_t>(offsets_.size())}},
          .ids = {ids_.data(), {size}},
          .weights = {weights_.data(), {size}}};
}

void gather_bags(const Csr& features, std::span<const uint32_t> points, float word_dropout,
                 uint64_t seed, uint64_t step, BagBatch& batch, ThreadPool& pool) {
  constexpr auto kMost = std::numeric_limits<int32_t>::max();
  ELIAS_ASSERT(features.cols <= kMost);
  const WordDropout dropout(word_dropout, seed, step);
  batch.offsets_.resize(points.size() + 1);
  pool.for_chunks(points.size(), kPointsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) {
      ELIAS_ASSERT(points[n] < features.rows());
      const size_t size = features.row(points[n]).size();
      batch.offsets_[n + 1] =
          static_cast<int32_t>(dropout.for_kept(points[n], size, [](size_t) {}));
    }
  });
  int64_t total = 0;
  for (size_t n = 1; n < batch.offsets_.size(); ++n) {
    total += batch.offsets_[n];
    if (total > kMost) {
      throw InputError("a batch of {} points has more than {} features: make it smaller",
                       points.size(), kMost);
    }
    batch.offsets_[n] = static_cast<int32_t>(total);
  }
  if (batch.ids_.size() < static_cast<size_t>(total)) {
    batch.ids_.resize(total);
    batch.weights_.resize(total);
  }
  pool.for_chunks(points.size(), kPointsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) {
      const CsrRow row = features.row(points[n]);
      int32_t place = batch.offsets_[n];
      dropout.for_kept(points[n], row.size(), [&](size_t i) {
        batch.ids_[place] = static_cast<int32_t>(row.columns[i]);
        batch.weights_[place++] = row.values[i];
      });
    }
  });
}

}  // namespace elias
