// The candidates for the k best of a row while it is being read, on the CPU.
//
// A candidate is one integer that sorts as (score, id) must: larger is better, no two are equal.
// What is best is thus a matter of the candidates alone, not of the order in which they came.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace elias::cpu {

/// The score's rank in the upper half, a NaN below all others; the lower of two ids ranks higher.
inline uint64_t candidate(float score, int32_t id) {
  uint32_t rank = 0;
  if (!std::isnan(score)) {
    const auto bits = std::bit_cast<uint32_t>(score + 0.0F);  // -0 becomes 0, its equal
    rank = (bits >> 31) != 0 ? ~bits : bits | 0x80000000;
  }
  return uint64_t{rank} << 32 | ~static_cast<uint32_t>(id);
}

inline int32_t id_of(uint64_t candidate) {
  return static_cast<int32_t>(~static_cast<uint32_t>(candidate));
}

inline float score_of(uint64_t candidate) {
  const auto rank = static_cast<uint32_t>(candidate >> 32);
  if (rank == 0) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>((rank >> 31) != 0 ? rank & 0x7fffffff : ~rank);
}

/// Makes the first k (or all) of `candidates` the best of them, unsorted.
inline void keep_best(std::vector<uint64_t>& candidates, size_t k) {
  if (candidates.size() <= k) return;
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(k - 1),
                   candidates.end(), std::greater<>());
  candidates.resize(k);
}

/// Collects scores that may be among the k best. Those that a kernel finds are put in two arrays,
/// in any number up to kSpare beyond room(), and become candidates when the arrays are full.
class TopCandidates {
 public:
  static constexpr size_t kSpare = 256;

  explicit TopCandidates(size_t k)
      : k_(k), room_(std::max<size_t>(k, 1024)), scores_(room_ + kSpare), ids_(room_ + kSpare) {
    best_.reserve(k + room_ + kSpare);
  }

  size_t k() const { return k_; }
  size_t room() const { return room_; }
  float* scores() { return scores_.data(); }
  int32_t* ids() { return ids_.data(); }
  /// Room for a kernel's samples.
  std::vector<float>& sample() { return sample_; }

  void clear() { best_.clear(); }
  void add(float score, int32_t id) { best_.push_back(candidate(score, id)); }

  /// Takes in the first `count` of the arrays and leaves the best k. Returns the lowest score of
  /// these, which a later one must exceed; there must be k.
  float keep_best(size_t count) {
    for (size_t i = 0; i < count; ++i) add(scores_[i], ids_[i]);
    cpu::keep_best(best_, k_);
    return score_of(*std::min_element(best_.begin(), best_.end()));
  }

  std::vector<uint64_t>& best() { return best_; }

 private:
  size_t k_;
  size_t room_;
  std::vector<uint64_t> best_;
  std::vector<float> scores_;
  std::vector<int32_t> ids_;
  std::vector<float> sample_;
};

}  // namespace elias::cpu
