// Top k on the CPU: one pass over a row that costs little more than reading it.
//
// A score is looked at only if it exceeds a bar that at least k scores before it reach; equals that
// come later have higher ids and do not count. The first bar comes from a sample, the row's
// beginning: of the maxima of 2k or more groups of scores, the k-th largest is reached by k scores
// at least, and by few more. Scores above the bar are gathered; when there are enough of them the
// best k are kept and the bar rises.
#include "ops/cpu_chunks.h"
#include "ops/lookup/top_k.h"
#include "ops/lookup/top_k_candidates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/lookup/top_k_cpu.cc"
#include "ops/simd/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/simd/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// Vectors that are compared with the bar at once, and groups are made of.
constexpr size_t kStep = 4;

// The maxima of kStep * lanes interleaved groups of scores; size is a multiple of that. A NaN is
// passed over, so the maximum of a group of nothing else is -infinity.
void group_maxima(const float* scores, size_t size, float* maxima) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  Vector most[kStep];
  for (size_t v = 0; v < kStep; ++v) most[v] = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < size; i += kStep * lanes) {
    for (size_t v = 0; v < kStep; ++v) {
      const auto next = hn::LoadU(d, scores + i + v * lanes);
      most[v] = hn::IfThenElse(hn::Gt(next, most[v]), next, most[v]);
    }
  }
  for (size_t v = 0; v < kStep; ++v) hn::StoreU(most[v], d, maxima + v * lanes);
}

struct Sample {
  size_t size = 0;  // scores looked at
  float bar = 0;    // reached by k of them
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
  std::vector<float>& maxima = best.sample();
  maxima.resize(parts * step);
  for (size_t p = 0; p < parts; ++p) group_maxima(scores + p * part, part, &maxima[p * step]);
  const auto kth = maxima.begin() + static_cast<ptrdiff_t>(k - 1);
  std::nth_element(maxima.begin(), kth, maxima.end(), std::greater<>());
  if (*kth == -std::numeric_limits<float>::infinity()) return {};
  return {.size = parts * part, .bar = *kth};
}

// Gathers scores [begin, end) for which is_hit holds until the room is filled; returns how far it
// came, and counts them.
template <typename IsHit>
HWY_INLINE size_t gather(const float* scores, size_t begin, size_t end, const IsHit& is_hit,
                         TopCandidates& best, size_t* count) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  const size_t lanes = hn::Lanes(d);
  static_assert(TopCandidates::kSpare >= (kStep + 1) * hn::MaxLanes(Lanes()));
  const auto put = [&](size_t i, hn::Mask<Lanes> hits) HWY_ATTR {
    const auto ids = hn::Iota(di, static_cast<int32_t>(i));
    hn::CompressStore(ids, hn::RebindMask(di, hits), di, best.ids() + *count);
    *count += hn::CompressStore(load(d, scores + i, HWY_MIN(lanes, end - i)), hits, d,
                                best.scores() + *count);
  };
  size_t i = begin;
  for (; i + kStep * lanes <= end; i += kStep * lanes) {
    const float* at = scores + i;
    const auto hits0 = is_hit(hn::LoadU(d, at));
    const auto hits1 = is_hit(hn::LoadU(d, at + lanes));
    const auto hits2 = is_hit(hn::LoadU(d, at + 2 * lanes));
    const auto hits3 = is_hit(hn::LoadU(d, at + 3 * lanes));
    if (HWY_LIKELY(hn::AllFalse(d, hn::Or(hn::Or(hits0, hits1), hn::Or(hits2, hits3))))) continue;
    if (*count >= best.room()) return i;
    put(i, hits0);
    put(i + lanes, hits1);
    put(i + 2 * lanes, hits2);
    put(i + 3 * lanes, hits3);
  }
  for (; i < end; i += lanes) {
    if (*count >= best.room()) return i;
    const size_t n = HWY_MIN(lanes, end - i);
    put(i, hn::And(hn::FirstN(d, n), is_hit(load(d, scores + i, n))));
  }
  return end;
}

// Reads on with the given bar, raises it whenever the room is filled, and returns the last one.
float read_on(const float* scores, size_t begin, size_t end, float bar, TopCandidates& best) {
  const Lanes d;
  size_t count = 0;
  while (true) {
    const auto limit = hn::Set(d, bar);
    // Every number is above a NaN.
    begin =
        std::isnan(bar)
            ? gather(
                  scores, begin, end, [](Vector v) HWY_ATTR { return hn::Eq(v, v); }, best, &count)
            : gather(
                  scores, begin, end, [&](Vector v) HWY_ATTR { return hn::Gt(v, limit); }, best,
                  &count);
    if (count > 0) bar = best.keep_best(count);
    if (begin == end) return bar;
    count = 0;
  }
}

// Makes best.best() the k best of scores [begin, end), or all if there are fewer.
void select(const float* scores, size_t begin, size_t end, TopCandidates& best) {
  best.clear();
  const Sample sample = sample_row(scores + begin, end - begin, best);
  float bar = 0;
  size_t at = begin + sample.size;
  if (sample.size > 0) {
    constexpr float kLowest = -std::numeric_limits<float>::infinity();
    bar = read_on(scores, begin, at, std::nextafter(sample.bar, kLowest), best);
  } else {
    at = HWY_MIN(end, begin + best.k() + best.room());
    for (size_t i = begin; i < at; ++i) best.add(scores[i], static_cast<int32_t>(i));
    bar = best.keep_best(0);
  }
  read_on(scores, at, end, bar, best);
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {
namespace {

// Writes the k best of the candidates for a row, in order.
void write_best(std::vector<uint64_t>& candidates, const float* scores, size_t k, float* values,
                int32_t* ids) {
  keep_best(candidates, k);
  std::sort(candidates.begin(), candidates.end(), std::greater<>());
  for (size_t j = 0; j < k; ++j) {
    ids[j] = id_of(candidates[j]);
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
  const auto kernel = ELIAS_BY_ISA(select)(context.isa());
  const size_t N = scores.shape()[0];
  const size_t L = scores.width();
  const size_t k = values.width();
  const auto row = [&](size_t n) { return scores.data<float>() + n * scores.stride(); };
  const auto write = [&](size_t n, std::vector<uint64_t>& candidates) {
    write_best(candidates, row(n), k, values.data<float>() + n * values.stride(),
               ids.data<int32_t>() + n * ids.stride());
  };
  const size_t piece = scores_per_piece(N, L, k);
  const size_t pieces = chunk_count(L, piece);
  if (pieces == 1) {
    context.pool().for_chunks(N, rows_per_chunk(L), [&](size_t, size_t begin, size_t end) {
      TopCandidates best(k);
      for (size_t n = begin; n < end; ++n) {
        kernel(row(n), 0, L, best);
        write(n, best.best());
      }
    });
    return;
  }
  std::vector<std::vector<uint64_t>> found(N * pieces);
  context.pool().for_each(N * pieces, [&](size_t unit) {
    TopCandidates best(k);
    const size_t begin = unit % pieces * piece;
    kernel(row(unit / pieces), begin, std::min(L, begin + piece), best);
    found[unit] = std::move(best.best());
  });
  context.pool().for_each(N, [&](size_t n) {
    std::vector<uint64_t>& candidates = found[n * pieces];
    for (size_t p = 1; p < pieces; ++p) {
      const auto& others = found[n * pieces + p];
      candidates.insert(candidates.end(), others.begin(), others.end());
    }
    write(n, candidates);
  });
}

}  // namespace elias::cpu
#endif
