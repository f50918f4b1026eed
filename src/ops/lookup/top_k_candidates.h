// The candidates for the k best of a row while it is being read, on the CPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace elias::cpu {

/// Scores as integers in the same order, equal for equal scores; NaN is the lowest.
inline constexpr int32_t kRankOfNaN = std::numeric_limits<int32_t>::min();

inline int32_t rank_of(float score) {
  if (std::isnan(score)) return kRankOfNaN;
  const auto bits = std::bit_cast<int32_t>(score + 0.0F);  // -0 becomes 0, its equal
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

inline float score_of(int32_t rank) {
  if (rank == kRankOfNaN) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(rank ^ ((rank >> 31) & 0x7fffffff));
}

/// Scores that may be among the k best, as ranks and ids, in rising order of the ids: among equals
/// those in front are the better ones.
class TopCandidates {
 public:
  /// Kernels may write that many beyond the capacity.
  static constexpr size_t kSpare = 128;

  /// Room for k and as many more as make it worth while to pick the best k again.
  explicit TopCandidates(size_t k) { reset(k); }
  TopCandidates(size_t k, size_t capacity) { reset(k, capacity); }

  /// Makes room for the candidates of other rows; what is large enough is kept.
  void reset(size_t k) { reset(k, k + std::max<size_t>(k, 256)); }
  void reset(size_t k, size_t capacity) {
    k_ = k;
    capacity_ = capacity;
    ranks_.resize(std::max(ranks_.size(), capacity + kSpare));
    ids_.resize(ranks_.size());
  }

  size_t k() const { return k_; }
  size_t capacity() const { return capacity_; }
  size_t size() const { return size_; }
  int32_t* ranks() { return ranks_.data(); }
  int32_t* ids() { return ids_.data(); }

  void resize(size_t size) { size_ = size; }
  void add(int32_t rank, int32_t id) {
    ranks_[size_] = rank;
    ids_[size_++] = id;
  }

  /// Leaves the first k that have at least the rank `lowest`, of which `higher` < k have more.
  void keep(int32_t lowest, size_t higher) {
    size_t equals = k_ - higher;
    size_t kept = 0;
    for (size_t i = 0; i < size_; ++i) {  // without branches: which to keep is hard to foretell
      const bool equal = ranks_[i] == lowest && equals > 0;
      equals -= equal ? 1 : 0;
      ranks_[kept] = ranks_[i];
      ids_[kept] = ids_[i];
      kept += ranks_[i] > lowest || equal ? 1 : 0;
    }
    size_ = kept;
  }

  /// Room for a kernel's samples.
  std::vector<int32_t>& sample() { return sample_; }

 private:
  size_t k_ = 0;
  size_t capacity_ = 0;
  size_t size_ = 0;
  std::vector<int32_t> ranks_;
  std::vector<int32_t> ids_;
  std::vector<int32_t> sample_;
};

}  // namespace elias::cpu
