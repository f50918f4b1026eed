// Whether scores mean what they say: of the pairs predicted with 0.7, seven in ten should be true.
//
// Ten bins of equal width over [0, 1]; the expected calibration error is the mean over all
// predicted (point, label) pairs of how far their bin's mean score is from its share of true pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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
  static size_t bin_of(float score) { return std::min<size_t>(slot_of(score), kBins - 1); }

  /// `position` is any number that differs from the one before, such as the place in the row.
  void add_pair(float score, size_t position) {
    Slot& slot = lanes_[position % kLanes][slot_of(score)];
    ++slot.pairs;
    slot.score_sum += static_cast<double>(score);
  }
  void add_pairs(std::span<const float> scores);
  /// To be called on top of the above for a pair that is true.
  void add_hit(float score) { ++hits_[bin_of(score)]; }

  void add(const Calibration& other);
  std::array<Bin, kBins> bins() const;
  /// The expected calibration error; 0 if there are no pairs.
  double error() const;

 private:
  // A score of 1 has a slot of its own until bins() puts it into the last bin: one comparison less
  // a pair. Padded to 16, so that a slot is found by shifts.
  static constexpr size_t kSlots = 16;
  // Most scores are small and fall into one bin: added to one place, each addition would wait for
  // the one before. Four places in turn keep the adder busy.
  static constexpr size_t kLanes = 4;

  struct Slot {
    uint64_t pairs = 0;
    double score_sum = 0;
  };

  static uint32_t slot_of(float score) {
    return static_cast<uint32_t>(static_cast<int32_t>(score * static_cast<float>(kBins)));
  }

  std::array<std::array<Slot, kSlots>, kLanes> lanes_{};
  std::array<uint64_t, kBins> hits_{};
};

}  // namespace elias
