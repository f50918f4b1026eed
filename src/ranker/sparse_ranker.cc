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

float SparseRankerView::weight(uint32_t label, uint32_t feature) const {
  const bool by_label = layout == RankerLayout::kByLabel;
  const uint32_t row = by_label ? label : feature, id = by_label ? feature : label;
  const auto begin = static_cast<size_t>(offsets[row]);
  const auto own = ids.subspan(begin, size_of(row));
  const auto place = std::ranges::lower_bound(own, id);
  if (place == own.end() || *place != id) return 0;
  return weights[begin + static_cast<size_t>(place - own.begin())];
}

SparseRanker by_feature(const SparseRanker& ranker, int64_t features) {
  ELIAS_ASSERT(ranker.layout == RankerLayout::kByLabel);
  SparseRanker turned{.layout = RankerLayout::kByFeature,
                      .offsets = std::vector<int64_t>(static_cast<size_t>(features) + 1),
                      .ids = std::vector<uint32_t>(ranker.ids.size()),
                      .weights = std::vector<float>(ranker.ids.size()),
                      .bias = ranker.bias};
  for (const uint32_t feature : ranker.ids) ++turned.offsets[feature + 1];
  std::partial_sum(turned.offsets.begin(), turned.offsets.end(), turned.offsets.begin());
  std::vector<int64_t> next(turned.offsets.begin(), turned.offsets.end() - 1);
  for (uint32_t label = 0; label < ranker.bias.size(); ++label) {
    for (int64_t e = ranker.offsets[label]; e < ranker.offsets[label + 1]; ++e) {
      const int64_t place = next[ranker.ids[e]]++;
      turned.ids[place] = label;
      turned.weights[place] = ranker.weights[e];
    }
  }
  return turned;
}

RankerLayout better_layout(const SparseRankerView& ranker, const Csr& points, const Csr& found) {
  ELIAS_ASSERT(ranker.layout == RankerLayout::kByLabel);
  std::vector<uint64_t> of_feature(points.cols);
  for (const uint32_t feature : ranker.ids) ++of_feature[feature];
  uint64_t labels = 0, features = 0;  // weights passed over
  for (const uint32_t label : found.columns) labels += ranker.size_of(label);
  for (const uint32_t feature : points.columns) features += of_feature[feature];
  // A weight of a feature is added at a place of its own: with very many labels out of the cache.
  return 2 * features < labels ? RankerLayout::kByFeature : RankerLayout::kByLabel;
}

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
      ranker.ids.push_back(feature);
      ranker.weights.push_back(weight);
    }
    ranker.offsets.push_back(static_cast<int64_t>(ranker.ids.size()));
    ranker.bias.push_back(one.bias);
  }
}

void check_sparse_ranker(const SparseRankerView& ranker, int64_t labels, int64_t features,
                         const std::string& name, ThreadPool& pool) {
  const auto require = [&](bool good, const char* what) {
    if (!good) throw InputError("{}: {}: copy the model again, or train it anew", name, what);
  };
  const auto& offsets = ranker.offsets;
  const bool by_label = ranker.layout == RankerLayout::kByLabel;
  const int64_t rows = by_label ? labels : features, ids = by_label ? features : labels;
  require(ranker.labels() == labels && static_cast<int64_t>(offsets.size()) == rows + 1 &&
              offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
              offsets.back() == static_cast<int64_t>(ranker.ids.size()) &&
              ranker.weights.size() == ranker.ids.size(),
          "its rows do not fit its weights");
  constexpr size_t kRowsPerChunk = 256;
  pool.for_chunks(static_cast<size_t>(rows), kRowsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      int64_t before = -1;
      for (int64_t e = offsets[row]; e < offsets[row + 1]; ++e) {
        require(int64_t{ranker.ids[e]} > before, "the ids of a row do not rise");
        require(std::isfinite(ranker.weights[e]), "it has a weight that is not a number");
        before = ranker.ids[e];
      }
      require(before < ids, by_label ? "it has weights of features beyond its own"
                                     : "it has weights of labels beyond its own");
    }
  });
  require(std::ranges::all_of(ranker.bias, [](float bias) { return std::isfinite(bias); }),
          "it has a bias that is not a number");
}

RankerQuery::RankerQuery(const SparseRankerView& ranker, int64_t features, Isa isa)
    : ranker_(ranker),
      loops_(sparse_loops(isa)),
      room_(ranker.layout == RankerLayout::kByLabel ? static_cast<size_t>(features)
                                                    : ranker.bias.size()) {}

void RankerQuery::margins(const CsrRow& point, std::span<const int32_t> labels,
                          std::span<float> margins) {
  ELIAS_ASSERT(labels.size() == margins.size());
  if (ranker_.layout == RankerLayout::kByLabel) {
    pass_over_labels(point, labels, margins);
  } else {
    pass_over_features(point, labels, margins);
  }
}

// The point goes into a dense vector once, and every label's row runs through that.
void RankerQuery::pass_over_labels(const CsrRow& point, std::span<const int32_t> labels,
                                   std::span<float> margins) {
  for (size_t i = 0; i < point.size(); ++i) room_[point.columns[i]] = point.values[i];
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<size_t>(labels[i]);
    const auto begin = static_cast<size_t>(ranker_.offsets[label]);
    margins[i] =
        ranker_.bias[label] + loops_.dot(ranker_.ids.data() + begin, ranker_.weights.data() + begin,
                                         ranker_.size_of(label), room_.data());
  }
  for (const uint32_t column : point.columns) room_[column] = 0;
}

// Calls the beginning of a row, which lies anywhere in memory, nearer; the rest follows by itself.
void RankerQuery::prefetch_row(size_t row) const {
  constexpr size_t kLines = 4, kPerLine = 64 / sizeof(float);
  const auto begin = static_cast<size_t>(ranker_.offsets[row]);
  const size_t end = begin + std::min(ranker_.size_of(row), kLines * kPerLine);
  for (size_t e = begin; e < end; e += kPerLine) {
    __builtin_prefetch(ranker_.ids.data() + e);
    __builtin_prefetch(ranker_.weights.data() + e);
  }
}

// Every feature adds to the sums of all labels that it has a weight for: those that are not asked
// for are never read, and need not begin at zero. Where a feature has weights for very many labels,
// those that are asked for are looked up: by halves, each costs as much as some tens of additions.
void RankerQuery::pass_over_features(const CsrRow& point, std::span<const int32_t> labels,
                                     std::span<float> margins) {
  constexpr size_t kAdditionsPerLookUp = 64, kAhead = 2;
  for (const int32_t label : labels) room_[label] = ranker_.bias[label];
  for (size_t j = 0; j < point.size(); ++j) {
    const uint32_t feature = point.columns[j];
    const float value = point.values[j];
    if (j + kAhead < point.size()) prefetch_row(point.columns[j + kAhead]);
    const auto begin = static_cast<size_t>(ranker_.offsets[feature]);
    const size_t size = ranker_.size_of(feature);
    if (size > kAdditionsPerLookUp * labels.size()) {
      for (const int32_t label : labels) {
        room_[label] += value * ranker_.weight(static_cast<uint32_t>(label), feature);
      }
      continue;
    }
    for (size_t e = begin; e < begin + size; ++e) {
      room_[ranker_.ids[e]] += value * ranker_.weights[e];
    }
  }
  for (size_t i = 0; i < labels.size(); ++i) margins[i] = room_[labels[i]];
}

float ranker_score(RankerLoss loss, float margin) {
  if (loss == RankerLoss::kLogistic) return 1 / (1 + std::exp(-margin));
  const float short_of = std::max(0.0F, 1 - margin);
  return std::exp(-short_of * short_of * short_of);
}

}  // namespace elias
