#include "index/search_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/search_loops.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

using Ids = hn::RebindToSigned<Lanes>;
static_assert(HWY_MAX_BYTES / sizeof(float) <= kSearchSlack);

size_t raise_scores(const RowPaths& row, float* best, int32_t* found) {
  const Lanes d;
  const Ids ids;
  const size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, row.factor);
  size_t count = 0;
  size_t i = 0;
  for (; i + lanes <= row.size; i += lanes) {
    const auto labels = hn::LoadU(ids, row.labels + i);
    const auto score = hn::Mul(factor, hn::LoadU(d, row.scores + i));
    const auto before = hn::GatherIndex(d, best, labels);
    const auto higher = hn::Gt(score, before);
    if (hn::AllFalse(d, higher)) continue;
    hn::ScatterIndex(hn::IfThenElse(higher, score, before), d, best, labels);
    const auto is_new = hn::And(higher, hn::Eq(before, hn::Zero(d)));
    count += hn::CompressStore(labels, hn::RebindMask(ids, is_new), ids, found + count);
  }
  for (; i < row.size; ++i) {
    const int32_t label = row.labels[i];
    const float score = row.factor * row.scores[i];
    if (!(score > best[label])) continue;
    if (best[label] == 0) found[count++] = label;
    best[label] = score;
  }
  return count;
}

size_t best_paths(const RowPaths& row, const float* best, float least, int32_t* places) {
  const Lanes d;
  const Ids ids;
  const size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, row.factor);
  const auto lowest = hn::Set(d, least);
  size_t count = 0;
  size_t i = 0;
  for (; i + lanes <= row.size; i += lanes) {
    const auto score = hn::Mul(factor, hn::LoadU(d, row.scores + i));
    const auto enough = hn::And(hn::Ge(score, lowest), hn::Gt(score, hn::Zero(d)));
    if (hn::AllFalse(d, enough)) continue;
    const auto own = hn::GatherIndex(d, best, hn::LoadU(ids, row.labels + i));
    const auto is_best = hn::And(enough, hn::Eq(score, own));
    count += hn::CompressStore(hn::Iota(ids, static_cast<int32_t>(i)), hn::RebindMask(ids, is_best),
                               ids, places + count);
  }
  for (; i < row.size; ++i) {
    const float score = row.factor * row.scores[i];
    if (score >= least && score > 0 && score == best[row.labels[i]]) {
      places[count++] = static_cast<int32_t>(i);
    }
  }
  return count;
}

void take_scores(const int32_t* labels, size_t n, const float* best, float* own) {
  const Lanes d;
  const Ids ids;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::GatherIndex(d, best, hn::LoadU(ids, labels + i)), d, own + i);
  }
  for (; i < n; ++i) own[i] = best[labels[i]];
}

size_t keep_scores(const float* scores, size_t n, float low, float high, float* kept) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  const auto from = hn::Set(d, low);
  const auto to = hn::Set(d, high);
  size_t count = 0;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto score = hn::LoadU(d, scores + i);
    const auto keeps = hn::And(hn::Ge(score, from), hn::Lt(score, to));
    count += hn::CompressStore(score, keeps, d, kept + count);
  }
  for (; i < n; ++i) {
    if (scores[i] >= low && scores[i] < high) kept[count++] = scores[i];
  }
  return count;
}

size_t keep_labels(const float* scores, const int32_t* labels, size_t n, float low, int32_t* kept) {
  const Lanes d;
  const Ids ids;
  const size_t lanes = hn::Lanes(d);
  const auto from = hn::Set(d, low);
  size_t count = 0;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto keeps = hn::RebindMask(ids, hn::Ge(hn::LoadU(d, scores + i), from));
    count += hn::CompressStore(hn::LoadU(ids, labels + i), keeps, ids, kept + count);
  }
  for (; i < n; ++i) {
    if (scores[i] >= low) kept[count++] = labels[i];
  }
  return count;
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias {

namespace cpu {

const auto kRaiseScores = ELIAS_BY_ISA(raise_scores);
const auto kBestPaths = ELIAS_BY_ISA(best_paths);
const auto kTakeScores = ELIAS_BY_ISA(take_scores);
const auto kKeepScores = ELIAS_BY_ISA(keep_scores);
const auto kKeepLabels = ELIAS_BY_ISA(keep_labels);

}  // namespace cpu

SearchLoops search_loops(Isa isa) {
  return {.raise_scores = cpu::kRaiseScores(isa),
          .best_paths = cpu::kBestPaths(isa),
          .take_scores = cpu::kTakeScores(isa),
          .keep_scores = cpu::kKeepScores(isa),
          .keep_labels = cpu::kKeepLabels(isa)};
}

}  // namespace elias
#endif
