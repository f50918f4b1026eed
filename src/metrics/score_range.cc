#include "metrics/score_range.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/errors.h"

namespace elias {
namespace {

constexpr size_t kGrain = 1 << 16;
constexpr uint32_t kMinusZero = 0x80000000, kExponent = 0x7f800000;
constexpr uint32_t kOne = std::bit_cast<uint32_t>(1.0f);

[[noreturn]] void refuse(const Csr& scores, size_t entry, const std::string& source) {
  const auto row = std::upper_bound(scores.offsets.begin(), scores.offsets.end(), entry);
  throw InputError("{}: row {}, label {}: the score is {}, not a finite number: repair the file",
                   source, row - scores.offsets.begin() - 1, scores.columns[entry],
                   scores.values[entry]);
}

}  // namespace

bool check_scores(const Csr& scores, const std::string& source, ThreadPool& pool) {
  std::atomic<bool> probabilities = true;
  pool.for_chunks(scores.nonzeros(), kGrain, [&](size_t, size_t begin, size_t end) {
    // On the bits, because sums of comparisons of whole numbers are what compilers vectorise. As
    // whole numbers, all floats but those in [0, 1] and minus zero are above one.
    uint32_t outside = 0, infinite = 0;
    for (size_t i = begin; i < end; ++i) {
      const auto bits = std::bit_cast<uint32_t>(scores.values[i]);
      outside += static_cast<uint32_t>(bits > kOne) & static_cast<uint32_t>(bits != kMinusZero);
      infinite += (bits & kExponent) == kExponent;
    }
    if (outside > 0) probabilities = false;
    if (infinite == 0) return;
    for (size_t i = begin; i < end; ++i) {
      if (!std::isfinite(scores.values[i])) refuse(scores, i, source);
    }
  });
  return probabilities;
}

}  // namespace elias
