#include "index/node_splitter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

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
      dense_width_(centroids.dense ? static_cast<size_t>(centroids.dense.shape()[-1]) : 0),
      direction_(dense_width_ + centroids.sparse.cols),
      number_of_(centroids.sparse.cols) {
  ELIAS_ASSERT(most_iterations >= 1);
}

void NodeSplitter::split(std::span<int32_t> labels, const Random& random) {
  const size_t n = labels.size();
  labels_ = labels;
  number_columns();
  right_.clear();
  const uint64_t from = random.below(0, n);
  const uint64_t other = random.below(1, n - 1);
  point_apart(from, other < from ? other : other + 1);
  halve();
  for (int iteration = 1; iteration < most_iterations_ && !changed_.empty(); ++iteration) {
    point_between_halves();
    halve();
  }
  reorder(labels);
}

void NodeSplitter::number_columns() {
  const Csr& sparse = centroids_.sparse;
  starts_.assign(1, 0);
  for (const int32_t label : labels_) starts_.push_back(starts_.back() + sparse.row(label).size());
  numbered_ = starts_.back() < sparse.cols;
  width_ = dense_width_ + sparse.cols;
  columns_.clear();
  if (!numbered_) return;  // the node may well have all columns
  uint32_t numbers = 0;
  for (const int32_t label : labels_) {
    for (const uint32_t column : sparse.row(label).columns) {
      uint32_t& number = number_of_[column];
      if (number == 0) number = ++numbers;
      columns_.push_back(number - 1);
    }
  }
  for (const int32_t label : labels_) {
    for (const uint32_t column : sparse.row(label).columns) number_of_[column] = 0;
  }
  width_ = dense_width_ + numbers;
}

void NodeSplitter::point_apart(size_t from, size_t to) {
  std::fill_n(direction_.data(), width_, 0.0F);
  add_label(to, 1, direction_.data());
  add_label(from, -1, direction_.data());
}

// unit(sum of the right half) - unit(sum of the left half)
void NodeSplitter::point_between_halves() {
  sum_halves();
  const float* sums = sums_[0].data();
  using Pair = std::array<double, 2>;
  std::vector<Pair> squares(chunk_count(width_, kColumnsPerChunk));
  pool_.for_chunks(width_, kColumnsPerChunk, [&](size_t chunk, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const double left = sums[i], right = sums[width_ + i];
      squares[chunk][kLeft] += left * left;
      squares[chunk][kRight] += right * right;
    }
  });
  Pair square{};
  for (const Pair& part : squares) {
    for (const size_t side : {kLeft, kRight}) square[side] += part[side];
  }
  const float left = one_over(std::sqrt(square[kLeft]));
  const float right = one_over(std::sqrt(square[kRight]));
  pool_.for_chunks(width_, kColumnsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      direction_[i] = right * sums[width_ + i] - left * sums[i];
    }
  });
}

// Moves the labels that changed sides from one sum to the other, or sums anew if all of them did.
// The first chunk of labels adds to the sums as they stand, the others to vectors of their own.
void NodeSplitter::sum_halves() {
  const bool anew = changed_.size() == labels_.size();
  const size_t grain = labels_per_sum(changed_.size());
  const size_t chunks = chunk_count(changed_.size(), grain);
  while (sums_.size() < chunks) sums_.emplace_back(2 * direction_.size());
  pool_.for_chunks(changed_.size(), grain, [&](size_t chunk, size_t begin, size_t end) {
    float* sums = sums_[chunk].data();
    if (anew || chunk > 0) std::fill_n(sums, 2 * width_, 0.0F);
    for (size_t i = begin; i < end; ++i) {
      const size_t side = right_[changed_[i]];
      add_label(changed_[i], 1, sums + side * width_);
      if (!anew) add_label(changed_[i], -1, sums + (1 - side) * width_);
    }
  });
  if (chunks == 1) return;
  pool_.for_chunks(2 * width_, kColumnsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t chunk = 1; chunk < chunks; ++chunk) {
      for (size_t i = begin; i < end; ++i) sums_[0][i] += sums_[chunk][i];
    }
  });
}

void NodeSplitter::halve() {
  const size_t n = labels_.size();
  scores_.resize(n);
  pool_.for_chunks(n, kLabelsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) scores_[i] = score(i);
  });
  std::vector<uint32_t> places(n);
  std::iota(places.begin(), places.end(), 0);
  const auto middle = places.begin() + static_cast<ptrdiff_t>(n / 2);
  std::nth_element(places.begin(), middle, places.end(), [&](uint32_t a, uint32_t b) {
    return scores_[a] != scores_[b] ? scores_[a] < scores_[b] : a < b;  // places rise with ids
  });
  std::vector<uint8_t> right(n, 1);
  for (auto place = places.begin(); place != middle; ++place) right[*place] = 0;
  right.swap(right_);
  changed_.clear();
  for (uint32_t i = 0; i < n; ++i) {
    if (right.empty() || right[i] != right_[i]) changed_.push_back(i);
  }
}

void NodeSplitter::reorder(std::span<int32_t> labels) const {
  std::vector<int32_t> halves;
  halves.reserve(labels.size());
  for (const size_t side : {kLeft, kRight}) {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (right_[i] == side) halves.push_back(labels[i]);
    }
  }
  std::copy(halves.begin(), halves.end(), labels.begin());
}

CsrRow NodeSplitter::terms(size_t place) const {
  CsrRow row = centroids_.sparse.row(labels_[place]);
  if (numbered_) row.columns = {columns_.data() + starts_[place], row.size()};
  return row;
}

void NodeSplitter::add_label(size_t place, float factor, float* vector) const {
  if (dense_width_ > 0) {
    const float* dense = centroids_.dense.span<float>().data() + labels_[place] * dense_width_;
    for (size_t d = 0; d < dense_width_; ++d) vector[d] += factor * dense[d];
  }
  const CsrRow row = terms(place);
  float* sparse = vector + dense_width_;
  for (size_t i = 0; i < row.size(); ++i) sparse[row.columns[i]] += factor * row.values[i];
}

float NodeSplitter::score(size_t place) const {
  float sum = 0;
  if (dense_width_ > 0) {
    const float* dense = centroids_.dense.span<float>().data() + labels_[place] * dense_width_;
    sum = dot(dense, direction_.data(), dense_width_);
  }
  const CsrRow row = terms(place);
  const float* sparse = direction_.data() + dense_width_;
  for (size_t i = 0; i < row.size(); ++i) sum += sparse[row.columns[i]] * row.values[i];
  return sum;
}

}  // namespace elias
