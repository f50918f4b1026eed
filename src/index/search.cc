#include "index/search.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "base/errors.h"

namespace elias {
namespace {

// Scores fall into buckets by their exponent and first mantissa bits: positive floats are ordered
// as their bits are. 4,065 buckets hold all of (0, 1] and stay in the first cache level.
constexpr int kDroppedBits = 18;
constexpr size_t kBuckets = (0x3f800000U >> kDroppedBits) + 1;

size_t bucket_of(float score) { return std::bit_cast<uint32_t>(score) >> kDroppedBits; }
float bucket_begin(size_t bucket) {
  return std::bit_cast<float>(static_cast<uint32_t>(bucket) << kDroppedBits);
}

constexpr size_t kWordBits = 64;

}  // namespace

LabelSearch::LabelSearch(int64_t L, Isa isa)
    : scores_(static_cast<size_t>(L)),
      paths_(static_cast<size_t>(L)),
      found_(static_cast<size_t>(L) + kSearchSlack),
      own_(static_cast<size_t>(L)),
      some_(static_cast<size_t>(L) + kSearchSlack),
      near_cut_(static_cast<size_t>(L) + kSearchSlack),
      chosen_(static_cast<size_t>(L) / kWordBits + 1),
      buckets_(kBuckets),
      loops_(search_loops(isa)) {}

void LabelSearch::explore(const LabelGraphView& graph, std::span<const int32_t> clusters,
                          std::span<const float> scores) {
  ELIAS_ASSERT(graph.label_count == static_cast<int64_t>(scores_.size()));
  for (size_t i = 0; i < count_; ++i) scores_[found_[i]] = 0;
  graph_ = graph;
  clusters_ = clusters;
  cluster_scores_ = scores;
  count_ = 0;
  for (size_t slot = 0; slot < clusters.size(); ++slot) {
    count_ += loops_.raise_scores(row(slot), scores_.data(), found_.data() + count_);
  }
}

RowPaths LabelSearch::row(size_t slot) const {
  const int64_t begin = graph_.offsets[clusters_[slot]];
  const int64_t end = graph_.offsets[clusters_[slot] + 1];
  return {.labels = graph_.labels.data() + begin,
          .scores = graph_.scores.data() + begin,
          .size = static_cast<size_t>(end - begin),
          .factor = cluster_scores_[slot]};
}

LabelPath LabelSearch::path(int32_t label) const {
  if (scores_[label] == 0) return {};
  for (size_t slot = 0; slot < clusters_.size(); ++slot) {
    const RowPaths paths = row(slot);
    const int32_t* const end = paths.labels + paths.size;
    const int32_t* const found = std::lower_bound(paths.labels, end, label);
    if (found == end || *found != label) continue;
    const auto place = found - paths.labels;
    if (paths.factor * paths.scores[place] != scores_[label]) continue;
    return {.edge = static_cast<int32_t>(graph_.offsets[clusters_[slot]] + place),
            .slot = static_cast<int32_t>(slot)};
  }
  return {};
}

// The paths of all labels with at least that score.
void LabelSearch::find_paths(float least) {
  // From the last slot to the first: of equal paths the first one's stays.
  for (size_t slot = clusters_.size(); slot-- > 0;) {
    const RowPaths paths = row(slot);
    const auto first = static_cast<int32_t>(graph_.offsets[clusters_[slot]]);
    const size_t count = loops_.best_paths(paths, scores_.data(), least, some_.data());
    for (size_t i = 0; i < count; ++i) {
      paths_[paths.labels[some_[i]]] = {.edge = first + some_[i],
                                        .slot = static_cast<int32_t>(slot)};
    }
  }
}

LabelSearch::Cut LabelSearch::cut_after(size_t K) {
  std::fill(buckets_.span().begin(), buckets_.span().end(), 0U);
  for (size_t i = 0; i < count_; ++i) ++buckets_[bucket_of(own_[i])];
  size_t bucket = kBuckets;
  size_t above = 0;  // in buckets over the one the cut is in
  while (above + buckets_[--bucket] < K) above += buckets_[bucket];
  const size_t near = loops_.keep_scores(own_.data(), count_, bucket_begin(bucket),
                                         bucket_begin(bucket + 1), near_cut_.data());
  float* first = near_cut_.data();
  float* last_in = first + (K - above - 1);
  std::nth_element(first, last_in, first + near, std::greater<>());
  const auto equal = std::count(first, last_in + 1, *last_in);
  return {.score = *last_in, .places = static_cast<size_t>(equal)};
}

void LabelSearch::write(size_t place, int32_t label, const Shortlist& shortlist) const {
  shortlist.labels[place] = label;
  shortlist.scores[place] = scores_[label];
  if (shortlist.edges.empty()) return;
  shortlist.edges[place] = paths_[label].edge;
  shortlist.slots[place] = paths_[label].slot;
}

size_t LabelSearch::write_from(const Cut& cut, const Shortlist& shortlist) {
  // One bit a label puts them in order without a sort.
  const size_t kept =
      loops_.keep_labels(own_.data(), found_.data(), count_, cut.score, some_.data());
  for (size_t i = 0; i < kept; ++i) {
    const auto label = static_cast<uint32_t>(some_[i]);
    chosen_[label / kWordBits] |= uint64_t{1} << (label % kWordBits);
  }
  size_t places = cut.places;
  size_t written = 0;
  for (size_t word = 0; word < chosen_.size(); ++word) {
    for (uint64_t bits = std::exchange(chosen_[word], 0); bits != 0; bits &= bits - 1) {
      const auto label = static_cast<int32_t>(word * kWordBits + std::countr_zero(bits));
      if (scores_[label] == cut.score) {
        if (places == 0) continue;
        --places;
      }
      write(written++, label, shortlist);
    }
  }
  return written;
}

// Over the labels found, which are few, not over all.
void LabelSearch::forget_others(std::span<const uint8_t> allowed) {
  ELIAS_ASSERT(allowed.size() == scores_.size());
  size_t kept = 0;
  for (size_t i = 0; i < count_; ++i) {
    const int32_t label = found_[i];
    if (allowed[label] != 0) {
      found_[kept++] = label;
    } else {
      scores_[label] = 0;
    }
  }
  count_ = kept;
}

size_t LabelSearch::shortlist(const Shortlist& shortlist, std::span<const uint8_t> allowed) {
  if (!allowed.empty()) forget_others(allowed);
  const size_t K = std::min(shortlist.labels.size(), count_);
  if (K == 0) return 0;
  loops_.take_scores(found_.data(), count_, scores_.data(), own_.data());
  const Cut cut = K < count_ ? cut_after(K) : Cut{.score = 0, .places = 0};
  if (!shortlist.edges.empty()) find_paths(cut.score);
  return write_from(cut, shortlist);
}

}  // namespace elias
