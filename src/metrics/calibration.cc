#include "metrics/calibration.h"

#include <cmath>

namespace elias {

void Calibration::add_pairs(std::span<const float> scores) {
  size_t i = 0;
  // Whole turns of the lanes: the inner loop is unrolled and its lanes are constants.
  for (; i + kLanes <= scores.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add_pair(scores[i + lane], lane);
  }
  for (; i < scores.size(); ++i) add_pair(scores[i], i);
}

void Calibration::add(const Calibration& other) {
  for (size_t lane = 0; lane < kLanes; ++lane) {
    for (size_t s = 0; s < kSlots; ++s) {
      lanes_[lane][s].pairs += other.lanes_[lane][s].pairs;
      lanes_[lane][s].score_sum += other.lanes_[lane][s].score_sum;
    }
  }
  for (size_t b = 0; b < kBins; ++b) hits_[b] += other.hits_[b];
}

std::array<Calibration::Bin, Calibration::kBins> Calibration::bins() const {
  std::array<Bin, kBins> bins{};
  for (const auto& lane : lanes_) {
    for (size_t s = 0; s < kSlots; ++s) {
      Bin& bin = bins[std::min(s, kBins - 1)];
      bin.pairs += lane[s].pairs;
      bin.score_sum += lane[s].score_sum;
    }
  }
  for (size_t b = 0; b < kBins; ++b) bins[b].hits = hits_[b];
  return bins;
}

double Calibration::error() const {
  double distance = 0;
  uint64_t pairs = 0;
  for (const Bin& bin : bins()) {
    distance += std::abs(bin.score_sum - static_cast<double>(bin.hits));
    pairs += bin.pairs;
  }
  return pairs > 0 ? distance / static_cast<double>(pairs) : 0;
}

}  // namespace elias
