// Whether scores mean what they say: of the pairs predicted with 0.7, seven in ten should be true.
//
// Ten bins of equal width over [0, 1]; the expected calibration error is the mean over all
// predicted (point, label) pairs of how far their bin's mean score is from its share of true pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace elias {

class Calibration {
 public:
  static constexpr size_t kBins = 10;

  struct Bin {
    uint64_t pairs = 0;
    uint64_t hits = 0;     // of them, true
    double score_sum = 0;  // of all pairs
  };

  /// Bin b holds scores in [b/10, (b+1)/10); the last one 1 as well. In single precision, as scores
  /// are: so 0.7 falls where a reader expects it.
  static size_t bin_of(float score) {
    return std::min(static_cast<size_t>(score * static_cast<float>(kBins)), kBins - 1);
  }

  void add_pair(float score) {
    Bin& bin = bins_[bin_of(score)];
    ++bin.pairs;
    bin.score_sum += static_cast<double>(score);
  }
  /// To be called on top of add_pair() for a pair that is true.
  void add_hit(float score) { ++bins_[bin_of(score)].hits; }

  void add(const Calibration& other) {
    for (size_t b = 0; b < kBins; ++b) {
      bins_[b].pairs += other.bins_[b].pairs;
      bins_[b].hits += other.bins_[b].hits;
      bins_[b].score_sum += other.bins_[b].score_sum;
    }
  }

  /// 0 if there are no pairs.
  double error() const {
    double distance = 0;
    uint64_t pairs = 0;
    for (const Bin& bin : bins_) {
      distance += std::abs(bin.score_sum - static_cast<double>(bin.hits));
      pairs += bin.pairs;
    }
    return pairs > 0 ? distance / static_cast<double>(pairs) : 0;
  }

  const std::array<Bin, kBins>& bins() const { return bins_; }

 private:
  std::array<Bin, kBins> bins_{};
};

}  // namespace elias
