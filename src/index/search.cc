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

constexpr size_t kWordBits = 64;

}  // namespace

LabelSearch::LabelSearch(int64_t L)
    : scores_(static_cast<size_t>(L)),
      paths_(static_cast<size_t>(L)),
      touched_(static_cast<size_t>(L) + 1),
      near_cut_(static_cast<size_t>(L)),
      chosen_(static_cast<size_t>(L) / kWordBits + 1),
      buckets_(kBuckets) {}

void LabelSearch::explore(const LabelGraphView& graph, std::span<const int32_t> clusters,
                          std::span<const float> scores) {
  ELIAS_ASSERT(graph.label_count == static_cast<int64_t>(scores_.size()));
  for (size_t i = 0; i < found_; ++i) scores_[touched_[i]] = 0;
  size_t found = 0;
  for (size_t slot = 0; slot < clusters.size(); ++slot) {
    const float cluster_score = scores[slot];
    const int64_t end = graph.offsets[clusters[slot] + 1];
    for (int64_t edge = graph.offsets[clusters[slot]]; edge < end; ++edge) {
      const float score = cluster_score * graph.scores[edge];
      const int32_t label = graph.labels[edge];
      const float before = scores_[label];
      if (!(score > before)) continue;
      touched_[found] = label;
      found += before == 0 ? 1 : 0;
      scores_[label] = score;
      paths_[label] = {static_cast<int32_t>(edge), static_cast<int32_t>(slot)};
    }
  }
  found_ = found;
}

LabelSearch::Cut LabelSearch::cut_after(size_t K) {
  std::fill(buckets_.span().begin(), buckets_.span().end(), 0U);
  for (size_t i = 0; i < found_; ++i) ++buckets_[bucket_of(scores_[touched_[i]])];
  size_t bucket = kBuckets;
  size_t above = 0;  // in buckets over the one the cut is in
  while (above + buckets_[--bucket] < K) above += buckets_[bucket];
  size_t near = 0;
  for (size_t i = 0; i < found_; ++i) {
    const float score = scores_[touched_[i]];
    near_cut_[near] = score;
    near += bucket_of(score) == bucket ? 1 : 0;
  }
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
  for (size_t i = 0; i < found_; ++i) {
    const int32_t label = touched_[i];
    chosen_[label / kWordBits] |= uint64_t{scores_[label] >= cut.score} << (label % kWordBits);
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
  for (size_t i = 0; i < found_; ++i) {
    const int32_t label = touched_[i];
    if (allowed[label] != 0) {
      touched_[kept++] = label;
    } else {
      scores_[label] = 0;
    }
  }
  found_ = kept;
}

size_t LabelSearch::shortlist(const Shortlist& shortlist, std::span<const uint8_t> allowed) {
  if (!allowed.empty()) forget_others(allowed);
  const size_t K = std::min(shortlist.labels.size(), found_);
  if (K == 0) return 0;
  const Cut cut = K < found_ ? cut_after(K) : Cut{.score = 0, .places = 0};
  return write_from(cut, shortlist);
}

}  // namespace elias
