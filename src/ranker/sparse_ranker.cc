#include "ranker/sparse_ranker.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>

#include "base/errors.h"
#include "base/scratch_pool.h"

namespace elias {
namespace {

std::vector<float> squared_lengths_of(const Csr& matrix) {
  std::vector<float> lengths(matrix.rows());
  for (size_t i = 0; i < matrix.rows(); ++i) {
    double sum = 0;
    for (const float value : matrix.row(i).values) sum += double{value} * double{value};
    lengths[i] = static_cast<float>(sum);
  }
  return lengths;
}

}  // namespace

// One thread's room.
struct RankerTrainer::Room {
  Room(uint64_t features, Isa isa) : descent(features, isa) {}

  DualDescent descent;
  std::vector<uint32_t> points;   // that the label at hand learns from
  std::vector<uint8_t> positive;  // of each, whether the label is true
};

RankerTrainer::RankerTrainer(const Csr& features, const Csr& labels, const Csr& found,
                             const RankerOptions& options, Isa isa)
    : features_(features),
      options_(options),
      isa_(isa),
      squared_lengths_(squared_lengths_of(features)),
      true_points_(transposed(labels)),
      found_points_(transposed(found)) {
  ELIAS_ASSERT(labels.rows() == features.rows() && found.rows() == features.rows());
  ELIAS_ASSERT(labels.cols == found.cols);
  pairs_.reserve(labels.cols + 1);
  pairs_.push_back(0);
  std::vector<uint32_t> points;
  for (size_t label = 0; label < labels.cols; ++label) {
    list_points(label, points);
    pairs_.push_back(pairs_.back() + points.size());
  }
}

// Points that have the label, and those it was found for, rising.
void RankerTrainer::list_points(size_t label, std::vector<uint32_t>& points) const {
  points.clear();
  std::ranges::set_union(true_points_.row(label).columns, found_points_.row(label).columns,
                         std::back_inserter(points));
}

void RankerTrainer::learn(size_t label, Room& room) const {
  const auto truth = true_points_.row(label).columns;
  list_points(label, room.points);
  room.positive.clear();
  auto next = truth.begin();
  for (const uint32_t point : room.points) {
    const bool is_true = next != truth.end() && *next == point;
    room.positive.push_back(is_true ? 1 : 0);
    next += is_true ? 1 : 0;
  }
  room.descent.solve({features_, squared_lengths_, room.points, room.positive}, options_.descent,
                     options_.seed, label);
}

void RankerTrainer::extend(SparseRanker& ranker, int64_t end, ThreadPool& pool) const {
  const size_t first = ranker.bias.size(), count = static_cast<size_t>(end) - first;
  ELIAS_ASSERT(end <= labels() && first <= static_cast<size_t>(end));
  struct Learned {
    std::vector<FeatureWeight> weights;
    float bias = 0;
  };
  std::vector<Learned> learned(count);
  // The labels with the most points first, so that no thread begins one when the others are done.
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), first);
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t label) { return pairs_[label + 1] - pairs_[label]; });
  ScratchPool<Room> rooms([&] { return std::make_unique<Room>(features_.cols, isa_); });
  pool.for_each(count, [&](size_t i) {
    rooms.with([&](Room& room) {
      learn(order[i], room);
      const auto weights = room.descent.take_weights(options_.cut);
      learned[order[i] - first] = {{weights.begin(), weights.end()}, room.descent.bias()};
    });
  });
  for (const Learned& one : learned) {
    for (const auto& [feature, weight] : one.weights) {
      ranker.features.push_back(feature);
      ranker.weights.push_back(weight);
    }
    ranker.offsets.push_back(static_cast<int64_t>(ranker.features.size()));
    ranker.bias.push_back(one.bias);
  }
}

void check_sparse_ranker(const SparseRankerView& ranker, int64_t labels, int64_t features,
                         const std::string& name, ThreadPool& pool) {
  const auto require = [&](bool good, const char* what) {
    if (!good) throw InputError("{}: {}: copy the model again, or train it anew", name, what);
  };
  const auto& offsets = ranker.offsets;
  require(ranker.labels() == labels && offsets.size() == ranker.bias.size() + 1 &&
              offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
              offsets.back() == static_cast<int64_t>(ranker.features.size()) &&
              ranker.weights.size() == ranker.features.size(),
          "the rows of its labels do not fit its weights");
  constexpr size_t kWeightsPerChunk = 1 << 16;
  pool.for_chunks(ranker.features.size(), kWeightsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      require(int64_t{ranker.features[i]} < features, "it has weights of features beyond its own");
      require(std::isfinite(ranker.weights[i]), "it has a weight that is not a number");
    }
  });
  require(std::ranges::all_of(ranker.bias, [](float bias) { return std::isfinite(bias); }),
          "it has a bias that is not a number");
}

RankerQuery::RankerQuery(int64_t features, Isa isa)
    : loops_(sparse_loops(isa)), point_(static_cast<size_t>(features)) {}

// The point goes into a dense vector once, and every label's row runs through that.
void RankerQuery::margins(const SparseRankerView& ranker, const CsrRow& point,
                          std::span<const int32_t> labels, std::span<float> margins) {
  ELIAS_ASSERT(labels.size() == margins.size());
  for (size_t i = 0; i < point.size(); ++i) point_[point.columns[i]] = point.values[i];
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<size_t>(labels[i]);
    const auto begin = static_cast<size_t>(ranker.offsets[label]);
    const auto size = static_cast<size_t>(ranker.offsets[label + 1]) - begin;
    margins[i] =
        ranker.bias[label] + loops_.dot(ranker.features.data() + begin,
                                        ranker.weights.data() + begin, size, point_.data());
  }
  for (const uint32_t column : point.columns) point_[column] = 0;
}

float ranker_score(RankerLoss loss, float margin) {
  if (loss == RankerLoss::kLogistic) return 1 / (1 + std::exp(-margin));
  const float short_of = std::max(0.0F, 1 - margin);
  return std::exp(-short_of * short_of * short_of);
}

}  // namespace elias
