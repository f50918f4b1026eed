// Top k on the CPU: one pass over a row that costs little more than reading it.
//
// A score is looked at only if it exceeds a bar that at least k scores before it reach; equals that
// come later have higher ids and do not count. The first bar comes from a sample, the row's
// beginning: of the maxima of 2k or more groups of scores, the k-th largest is reached by k scores
// at least, and by few more. Scores above the bar are gathered; when there are enough of them the
// best k are kept and the bar rises. No branch depends on a single score: it would be mispredicted.
#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "ops/cpu/chunks.h"
#include "ops/lookup/top_k.h"
#include "ops/lookup/top_k_candidates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/lookup/top_k_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

using Ranks = hn::RebindToSigned<Lanes>;

// As rank_of of top_k_candidates.h, of numbers.
HWY_INLINE hn::Vec<Ranks> ranks_of(Vector scores) {
  const Ranks d;
  const auto bits = hn::BitCast(d, hn::Add(scores, hn::Zero(Lanes())));
  return hn::Xor(bits, hn::And(hn::ShiftRight<31>(bits), hn::Set(d, 0x7fffffff)));
}

HWY_INLINE size_t count_above(const int32_t* ranks, size_t size, int32_t bound) {
  const Ranks d;
  const size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, bound);
  size_t count = 0;
  size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    count += hn::CountTrue(d, hn::Gt(hn::LoadU(d, ranks + i), limit));
  }
  if (i == size) return count;
  // Arrays of ranks have room for a vector behind their end.
  const auto last = hn::FirstN(d, size - i);
  return count + hn::CountTrue(d, hn::And(last, hn::Gt(hn::LoadU(d, ranks + i), limit)));
}

// The k-th largest of the ranks, 1 <= k <= size: the lowest bound that fewer than k exceed, found
// by halving the interval of bounds.
int32_t kth_largest(const int32_t* ranks, size_t size, size_t k) {
  int32_t least = ranks[0];
  int32_t most = ranks[0];
  for (size_t i = 1; i < size; ++i) {
    least = HWY_MIN(least, ranks[i]);
    most = HWY_MAX(most, ranks[i]);
  }
  int64_t low = least;
  int64_t high = most;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (count_above(ranks, size, static_cast<int32_t>(middle)) < k) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return static_cast<int32_t>(low);
}

// Leaves the k best of the candidates and returns the score that a later one must exceed.
float keep_best(TopCandidates& best) {
  const int32_t lowest = kth_largest(best.ranks(), best.size(), best.k());
  best.keep(lowest, count_above(best.ranks(), best.size(), lowest));
  return score_of(lowest);
}

// Vectors that are compared with the bar at once, and groups are made of.
constexpr size_t kStep = 4;

// Calls the scores a page from here into the cache, where the hardware stops doing so by itself;
// memory then stays busy while candidates are dealt with.
HWY_INLINE void call_ahead(const float* scores, size_t size) {
  constexpr size_t kPage = 1024;
  constexpr size_t kLine = 16;
  for (size_t i = 0; i < size; i += kLine) hwy::Prefetch(scores + kPage + i);
}

// The ranks of the maxima of kStep * lanes interleaved groups of scores; size is a multiple of
// that. A NaN is passed over, so the maximum of a group of nothing else is -infinity.
void group_maxima(const float* scores, size_t size, int32_t* maxima) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  Vector most[kStep];
  for (size_t v = 0; v < kStep; ++v) most[v] = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < size; i += kStep * lanes) {
    call_ahead(scores + i, kStep * lanes);
    for (size_t v = 0; v < kStep; ++v) {
      const auto next = hn::LoadU(d, scores + i + v * lanes);
      most[v] = hn::IfThenElse(hn::Gt(next, most[v]), next, most[v]);
    }
  }
  for (size_t v = 0; v < kStep; ++v) hn::StoreU(ranks_of(most[v]), Ranks(), maxima + v * lanes);
}

struct Sample {
  size_t size = 0;  // scores looked at
  float bar = 0;    // exceeded by k of them
};

// Nothing is looked at where the row is too short, or its beginning has not k scores above
// -infinity.
Sample sample_row(const float* scores, size_t size, TopCandidates& best) {
  constexpr size_t kSampleSize = 16384;
  const size_t step = kStep * hn::Lanes(Lanes());
  const size_t k = best.k();
  const size_t parts = (2 * k + step - 1) / step;
  const size_t part = HWY_MIN(size, HWY_MAX(kSampleSize, 16 * k)) / parts / step * step;
  if (part < 2 * step) return {};
  std::vector<int32_t>& maxima = best.sample();
  maxima.resize(parts * step + TopCandidates::kSpare);
  for (size_t p = 0; p < parts; ++p) group_maxima(scores + p * part, part, &maxima[p * step]);
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const float reached = score_of(kth_largest(maxima.data(), parts * step, k));
  if (reached == kLowest) return {};
  return {.size = parts * part, .bar = std::nextafter(reached, kLowest)};
}

// Puts the hits among a vector of scores, whose ids are given, where the candidates end; returns
// their number. May write a whole vector.
HWY_INLINE size_t put(Vector scores, hn::Mask<Lanes> hits, hn::Vec<Ranks> ids, int32_t* to_ranks,
                      int32_t* to_ids) {
  const Ranks d;
  const auto mask = hn::RebindMask(d, hits);
#if HWY_MAX_BYTES == 64
  hn::StoreU(hn::Compress(ranks_of(scores), mask), d, to_ranks);
  hn::StoreU(hn::Compress(ids, mask), d, to_ids);
  return hn::CountTrue(d, mask);
#else
  // No instruction compresses a vector here, and looking up how to permute it is slower than this.
  HWY_ALIGN int32_t ranks[hn::MaxLanes(d)];
  HWY_ALIGN int32_t is_hit[hn::MaxLanes(d)];
  hn::Store(ranks_of(scores), d, ranks);
  hn::Store(hn::VecFromMask(d, mask), d, is_hit);
  const int32_t first_id = hn::GetLane(ids);
  size_t count = 0;
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    to_ranks[count] = ranks[lane];
    to_ids[count] = first_id + static_cast<int32_t>(lane);
    count += is_hit[lane] != 0 ? 1 : 0;
  }
  return count;
#endif
}

// Appends the scores [begin, end) for which is_hit holds to the candidates until these are full;
// returns how far it came. A tile is read from memory to see where there are hits, and those places
// once more, from the cache.
template <typename IsHit>
HWY_INLINE size_t gather(const float* scores, size_t begin, size_t end, const IsHit& is_hit,
                         TopCandidates& best) {
  constexpr size_t kTile = 4096;
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  const size_t step = kStep * lanes;
  static_assert(TopCandidates::kSpare >= (kStep + 1) * hn::MaxLanes(Lanes()));
  const auto first_ids = hn::Iota(Ranks(), 0);
  uint32_t places[kTile / kStep];
  int32_t* to_ranks = best.ranks();
  int32_t* to_ids = best.ids();
  size_t size = best.size();
  for (size_t tile = begin; tile < end; tile += kTile) {
    const size_t tile_end = HWY_MIN(end, tile + kTile);
    size_t count = 0;
    size_t i = tile;
    for (; i + step <= tile_end; i += step) {
      call_ahead(scores + i, step);
      const auto hits0 = is_hit(hn::LoadU(d, scores + i));
      const auto hits1 = is_hit(hn::LoadU(d, scores + i + lanes));
      const auto hits2 = is_hit(hn::LoadU(d, scores + i + 2 * lanes));
      const auto hits3 = is_hit(hn::LoadU(d, scores + i + 3 * lanes));
      places[count] = static_cast<uint32_t>(i);
      count += hn::AllFalse(d, hn::Or(hn::Or(hits0, hits1), hn::Or(hits2, hits3))) ? 0 : 1;
    }
    if (i < tile_end) places[count++] = static_cast<uint32_t>(i);
    for (size_t p = 0; p < count; ++p) {
      if (size >= best.capacity()) {
        best.resize(size);
        return places[p];
      }
      const size_t step_end = HWY_MIN(tile_end, places[p] + step);
      for (i = places[p]; i < step_end; i += lanes) {
        const size_t n = HWY_MIN(lanes, step_end - i);
        const auto next = load(d, scores + i, n);
        const auto ids = hn::Add(first_ids, hn::Set(Ranks(), static_cast<int32_t>(i)));
        size +=
            put(next, hn::And(is_hit(next), hn::FirstN(d, n)), ids, to_ranks + size, to_ids + size);
      }
    }
  }
  best.resize(size);
  return end;
}

// Reads on with the given bar, raises it whenever there are enough candidates and at the end, and
// returns the last one.
float read_on(const float* scores, size_t begin, size_t end, float bar, TopCandidates& best) {
  while (begin < end) {
    const auto limit = hn::Set(Lanes(), bar);
    const auto exceeds = [&](Vector v) HWY_ATTR { return hn::Gt(v, limit); };
    const auto is_number = [](Vector v) HWY_ATTR { return hn::Eq(v, v); };  // and exceeds a NaN
    begin = std::isnan(bar) ? gather(scores, begin, end, is_number, best)
                            : gather(scores, begin, end, exceeds, best);
    if (best.size() > best.k()) bar = keep_best(best);
  }
  return bar;
}

// Makes `best` the k best of scores [begin, end), or all if there are fewer.
void select(const float* scores, size_t begin, size_t end, TopCandidates& best) {
  best.resize(0);
  const Sample sample = sample_row(scores + begin, end - begin, best);
  if (sample.size > 0) {
    const float bar = read_on(scores, begin, begin + sample.size, sample.bar, best);
    read_on(scores, begin + sample.size, end, bar, best);
    return;
  }
  const size_t first = HWY_MIN(end, begin + best.capacity());
  for (size_t i = begin; i < first; ++i) best.add(rank_of(scores[i]), static_cast<int32_t>(i));
  if (best.size() > best.k()) read_on(scores, first, end, keep_best(best), best);
}

// Writes few candidates in falling order: each goes where as many are in front of it as come before
// it. That is k^2 comparisons, but in vectors and without the mispredictions of a sort.
void write_few(TopCandidates& best, const float* scores, float* values, int32_t* ids) {
  const int32_t* ranks = best.ranks();
  for (size_t j = 0; j < best.size(); ++j) {
    const int32_t rank = ranks[j];
    const size_t earlier = rank == kRankOfNaN ? j : count_above(ranks, j, rank - 1);
    const size_t place = earlier + count_above(ranks + j, best.size() - j, rank);
    ids[place] = best.ids()[j];
    values[place] = scores[ids[place]];
  }
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {
namespace {

// Writes many candidates in falling order.
void write_many(TopCandidates& best, const float* scores, float* values, int32_t* ids) {
  // One integer that sorts as rank and id must.
  constexpr int32_t kMostId = std::numeric_limits<int32_t>::max();
  static thread_local std::vector<int64_t> order;
  order.resize(best.size());
  for (size_t j = 0; j < order.size(); ++j) {
    order[j] = (int64_t{best.ranks()[j]} << 32) + (kMostId - best.ids()[j]);
  }
  std::sort(order.begin(), order.end(), std::greater<>());
  for (size_t j = 0; j < order.size(); ++j) {
    ids[j] = kMostId - static_cast<int32_t>(order[j]);
    values[j] = scores[ids[j]];
  }
}

// Scores a piece, where few rows are long enough to be cut among threads; else all of a row.
size_t scores_per_piece(size_t rows, size_t width, size_t k) {
  constexpr size_t kFewRows = 64;
  constexpr size_t kPiece = size_t{1} << 18;
  return rows < kFewRows ? std::min(width, std::max(kPiece, 4 * k)) : width;
}

}  // namespace

void top_k(const Context& context, ConstTensorView scores, TensorView values, TensorView ids) {
  const auto select_best = ELIAS_BY_ISA(select)(context.isa());
  const size_t N = scores.shape()[0];
  const size_t L = scores.width();
  const size_t k = values.width();
  const auto row = [&](size_t n) { return scores.data<float>() + n * scores.stride(); };
  constexpr size_t kFew = 256;
  const auto write_sorted = k <= kFew ? ELIAS_BY_ISA(write_few)(context.isa()) : &write_many;
  const auto write = [&](size_t n, TopCandidates& best) {
    write_sorted(best, row(n), values.data<float>() + n * values.stride(),
                 ids.data<int32_t>() + n * ids.stride());
  };
  const size_t piece = scores_per_piece(N, L, k);
  const size_t pieces = chunk_count(L, piece);
  if (pieces == 1) {
    context.pool().for_chunks(N, rows_per_chunk(L), [&](size_t, size_t begin, size_t end) {
      static thread_local TopCandidates best(0, 0);  // kept: a short row is found in no time
      best.reset(k);
      for (size_t n = begin; n < end; ++n) {
        select_best(row(n), 0, L, best);
        write(n, best);
      }
    });
    return;
  }
  std::vector<TopCandidates> found(N * pieces, TopCandidates(0, 0));
  context.pool().for_each(N * pieces, [&](size_t unit) {
    TopCandidates best(k);
    const size_t begin = unit % pieces * piece;
    select_best(row(unit / pieces), begin, std::min(L, begin + piece), best);
    found[unit] = std::move(best);
  });
  const auto keep = ELIAS_BY_ISA(keep_best)(context.isa());
  context.pool().for_each(N, [&](size_t n) {
    TopCandidates best(k, pieces * k);
    for (size_t p = 0; p < pieces; ++p) {  // in the order of their ids
      TopCandidates& part = found[n * pieces + p];
      for (size_t j = 0; j < part.size(); ++j) best.add(part.ranks()[j], part.ids()[j]);
    }
    keep(best);
    write(n, best);
  });
}

}  // namespace elias::cpu
#endif
