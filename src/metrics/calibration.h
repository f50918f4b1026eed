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

  /// `position` is any number that differs from the one before, such as the place in the row.
  void add_pair(float score, size_t position) {
    Bin& bin = lanes_[position % kLanes][bin_of(score)];
    ++bin.pairs;
    bin.score_sum += static_cast<double>(score);
  }
  /// To be called on top of add_pair() for a pair that is true.
  void add_hit(float score) { ++lanes_[0][bin_of(score)].hits; }

  void add(const Calibration& other) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(lanes_[lane], other.lanes_[lane]);
  }

  std::array<Bin, kBins> bins() const {
    std::array<Bin, kBins> sum{};
    for (const auto& lane : lanes_) add(sum, lane);
    return sum;
  }

  /// 0 if there are no pairs.
  double error() const {
    double distance = 0;
    uint64_t pairs = 0;
    for (const Bin& bin : bins()) {
      distance += std::abs(bin.score_sum - static_cast<double>(bin.hits));
      pairs += bin.pairs;
    }
    return pairs > 0 ? distance / static_cast<double>(pairs) : 0;
  }

 private:
  // Most scores are small and fall into one bin: added to one place, each addition would wait for
  // the one before. Four places in turn keep the adder busy.
  static constexpr size_t kLanes = 4;

  static void add(std::array<Bin, kBins>& sum, const std::array<Bin, kBins>& other) {
    for (size_t b = 0; b < kBins; ++b) {
      sum[b].pairs += other[b].pairs;
      sum[b].hits += other[b].hits;
      sum[b].score_sum += other[b].score_sum;
    }
  }

  std::array<std::array<Bin, kBins>, kLanes> lanes_{};
};

}  // namespace elias
