#include "index/node_splitter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/errors.h"

namespace elias {
namespace {

constexpr size_t kLabelsPerChunk = 1024;
constexpr size_t kColumnsPerChunk = 65536;
constexpr uint64_t kFirstNodeStream = uint64_t{1} << 60;
constexpr size_t kLeft = 0, kRight = 1;

// Labels summed by one chunk. Each chunk has vectors of its own, of the whole width: at most 16,
// which bounds their memory, and none is worth it for fewer labels than this.
size_t labels_per_sum(size_t labels) { return std::max<size_t>(16384, (labels + 15) / 16); }

// In eight sums side by side, which the compiler keeps in registers.
float dot(const float* a, const float* b, size_t size) {
  std::array<float, 8> sums{};
  size_t i = 0;
  for (; i + sums.size() <= size; i += sums.size()) {
    for (size_t j = 0; j < sums.size(); ++j) sums[j] += a[i + j] * b[i + j];
  }
  float sum = 0;
  for (; i < size; ++i) sum += a[i] * b[i];
  for (const float part : sums) sum += part;
  return sum;
}

float one_over(double length) { return length > 0 ? static_cast<float>(1 / length) : 0; }

}  // namespace

Random node_random(uint64_t seed, int level, size_t node) {
  return {seed, kFirstNodeStream + (uint64_t{1} << level) + node};
}

NodeSplitter::NodeSplitter(const LabelCentroids& centroids, int most_iterations, ThreadPool& pool)
    : centroids_(centroids),
      most_iterations_(most_iterations),
      pool_(pool),
      D_(centroids.dense ? static_cast<size_t>(centroids.dense.shape()[-1]) : 0),
      width_(D_ + centroids.sparse.cols),
      seen_(centroids.sparse.cols),
      direction_(width_) {
  ELIAS_ASSERT(width_ < std::numeric_limits<uint32_t>::max() && most_iterations >= 1);
  if (centroids.dense) dense_ = centroids.dense.span<float>();
}

void NodeSplitter::split(std::span<int32_t> labels, const Random& random) {
  const size_t n = labels.size();
  find_columns(labels);
  right_.clear();
  const uint64_t left = random.below(0, n);
  const uint64_t other = random.below(1, n - 1);
  point_apart(labels[left], labels[other < left ? other : other + 1]);
  for (int iteration = 1; halve(labels) && iteration < most_iterations_; ++iteration) {
    point_between_halves(labels);
  }
  std::vector<int32_t> halves;
  halves.reserve(n);
  for (const size_t side : {kLeft, kRight}) {
    for (size_t i = 0; i < n; ++i) {
      if (right_[i] == side) halves.push_back(labels[i]);
    }
  }
  std::copy(halves.begin(), halves.end(), labels.begin());
}

void NodeSplitter::find_columns(std::span<const int32_t> labels) {
  uint64_t entries = 0;
  for (const int32_t label : labels) entries += centroids_.sparse.row(label).size();
  const bool all = entries >= centroids_.sparse.cols;
  columns_.resize(all ? width_ : D_);
  std::iota(columns_.begin(), columns_.end(), 0);
  if (all) return;  // to look for those without any label would cost more than it saves
  for (const int32_t label : labels) {
    for (const uint32_t column : centroids_.sparse.row(label).columns) {
      if (seen_[column]) continue;
      seen_[column] = 1;
      columns_.push_back(static_cast<uint32_t>(D_ + column));
    }
  }
  for (size_t i = D_; i < columns_.size(); ++i) seen_[columns_[i] - D_] = 0;
}

void NodeSplitter::point_apart(int32_t from, int32_t to) {
  for (const uint32_t column : columns_) direction_[column] = 0;
  add_label(to, 1, direction_.data());
  add_label(from, -1, direction_.data());
}

// unit(sum of the right half) - unit(sum of the left half)
void NodeSplitter::point_between_halves(std::span<const int32_t> labels) {
  const size_t sums = chunk_count(labels.size(), labels_per_sum(labels.size()));
  sum_halves(labels, sums);
  using Pair = std::array<double, 2>;
  std::vector<Pair> squares(chunk_count(columns_.size(), kColumnsPerChunk));
  pool_.for_chunks(columns_.size(), kColumnsPerChunk, [&](size_t chunk, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      for (const size_t side : {kLeft, kRight}) {
        const size_t place = side * width_ + columns_[i];
        float& total = sums_[0][place];
        for (size_t s = 1; s < sums; ++s) total += std::exchange(sums_[s][place], 0.0F);
        squares[chunk][side] += static_cast<double>(total) * total;
      }
    }
  });
  Pair square{};
  for (const Pair& part : squares) {
    for (const size_t side : {kLeft, kRight}) square[side] += part[side];
  }
  const float left = one_over(std::sqrt(square[kLeft]));
  const float right = one_over(std::sqrt(square[kRight]));
  pool_.for_chunks(columns_.size(), kColumnsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      float* sum = sums_[0].data() + columns_[i];
      direction_[columns_[i]] = right * sum[width_] - left * sum[0];
      sum[0] = sum[width_] = 0;
    }
  });
}

void NodeSplitter::sum_halves(std::span<const int32_t> labels, size_t chunks) {
  while (sums_.size() < chunks) sums_.emplace_back(2 * width_);
  pool_.for_chunks(labels.size(), labels_per_sum(labels.size()),
                   [&](size_t chunk, size_t begin, size_t end) {
                     float* sums = sums_[chunk].data();
                     for (size_t i = begin; i < end; ++i) {
                       add_label(labels[i], 1, sums + right_[i] * width_);
                     }
                   });
}

// Whether any label changed sides.
bool NodeSplitter::halve(std::span<const int32_t> labels) {
  const size_t n = labels.size();
  scores_.resize(n);
  pool_.for_chunks(n, kLabelsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) scores_[i] = score(labels[i]);
  });
  places_.resize(n);
  std::iota(places_.begin(), places_.end(), 0);
  const auto middle = places_.begin() + static_cast<ptrdiff_t>(n / 2);
  std::nth_element(places_.begin(), middle, places_.end(), [&](uint32_t a, uint32_t b) {
    return scores_[a] != scores_[b] ? scores_[a] < scores_[b] : a < b;  // places rise with ids
  });
  before_.swap(right_);
  right_.assign(n, 1);
  for (auto place = places_.begin(); place != middle; ++place) right_[*place] = 0;
  return right_ != before_;
}

void NodeSplitter::add_label(int32_t label, float factor, float* vector) const {
  const float* dense = dense_.data() + label * D_;
  for (size_t d = 0; d < D_; ++d) vector[d] += factor * dense[d];
  const CsrRow terms = centroids_.sparse.row(label);
  for (size_t i = 0; i < terms.size(); ++i) {
    vector[D_ + terms.columns[i]] += factor * terms.values[i];
  }
}

float NodeSplitter::score(int32_t label) const {
  float sum = dot(dense_.data() + label * D_, direction_.data(), D_);
  const float* direction = direction_.data() + D_;
  const CsrRow terms = centroids_.sparse.row(label);
  for (size_t i = 0; i < terms.size(); ++i) sum += direction[terms.columns[i]] * terms.values[i];
  return sum;
}

}  // namespace elias
