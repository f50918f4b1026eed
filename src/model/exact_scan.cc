// Label weights are read as they lie, in blocks that stay in the cache for all points of a chunk:
// there is no packed copy of them to make when a model is loaded, and bfloat16 needs no conversion.
#include "model/exact_scan.h"

#include <algorithm>
#include <limits>

#include "ops/lookup/gather_dot.h"

namespace elias {
namespace {

// Scores computed at a time. A single point gets long blocks, which all threads share.
constexpr size_t kScores = 16384;
constexpr size_t kFewestLabels = 256;

}  // namespace

void BestLabels::start(size_t k) {
  heap_.clear();
  heap_.reserve(k);
  k_ = k;
  bar_ = -std::numeric_limits<float>::infinity();
}

void BestLabels::offer(std::span<const int32_t> labels, std::span<const float> z,
                       std::span<const uint8_t> allowed) {
  for (size_t j = 0; j < z.size(); ++j) {
    if (!(z[j] > bar_)) continue;
    if (!allowed.empty() && allowed[static_cast<size_t>(labels[j])] == 0) continue;
    add({{.score = sigmoid(z[j]), .label = labels[j]}, z[j]});
  }
}

void BestLabels::add(const Entry& entry) {
  if (heap_.size() == k_) {
    // Of equal scores (far from 0 a sigmoid rounds to 1) the lower label, which is there, stays.
    if (!(entry.score > heap_.front().score)) return;
    std::pop_heap(heap_.begin(), heap_.end(), is_better);
    heap_.pop_back();
  }
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), is_better);
  if (heap_.size() == k_) bar_ = heap_.front().z;
}

void BestLabels::write(std::span<int32_t> labels, std::span<float> scores) {
  write_best(std::span(heap_), labels, scores);
}

void ExactScan::rank(const Context& context, const PredictorWeights& weights, ConstTensorView phi,
                     int64_t k, std::span<const uint8_t> allowed, std::span<const int32_t> listed,
                     const RankedLabels& ranked) {
  const auto n = static_cast<size_t>(phi.rows());
  const auto places = static_cast<size_t>(k);
  const size_t count =
      listed.empty() ? static_cast<size_t>(weights.label_weights.rows()) : listed.size();
  const size_t block = std::min(count, std::max(kFewestLabels, kScores / n));
  ids_.resize(std::max(ids_.size(), n * block));
  z_.resize(ids_.size());
  best_.resize(std::max(best_.size(), n));
  for (size_t i = 0; i < n; ++i) best_[i].start(places);
  for (size_t first = 0; first < count; first += block) {
    const size_t m = std::min(block, count - first);
    for (size_t p = 0; p < n * m; ++p) {
      const size_t place = first + p % m;
      ids_[p] = listed.empty() ? static_cast<int32_t>(place) : listed[place];
    }
    const Shape shape{phi.rows(), static_cast<int64_t>(m)};
    gather_dot(context, phi, weights.label_weights, weights.label_bias,
               ConstTensorView(ids_.data(), shape), TensorView(z_.data(), shape));
    for (size_t i = 0; i < n; ++i) {
      best_[i].offer(std::span(ids_).first(m), std::span(z_).subspan(i * m, m), allowed);
    }
  }
  for (size_t i = 0; i < n; ++i) {
    best_[i].write(ranked.labels.subspan(i * places, places),
                   ranked.scores.subspan(i * places, places));
  }
}

}  // namespace elias
