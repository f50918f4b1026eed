// Best rows on the CPU: the product's own kernels (ops/product/product.h) with rows of w on the
// left, a few panels at a time, and all points on the right; then one comparison a score.
//
// A score counts if it reaches a bar that at least k scores before it reach. What counts is
// gathered, and when there is enough of it the best k are kept and the bar rises. Chunks of rows go
// to different threads, and each starts with the bar that those before it have left: that changes
// how much is looked at, never what is found, since values with their ids have one order.
#include "ops/lookup/best_rows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

#include "ops/cpu/scratch.h"
#include "ops/lookup/top_k_candidates.h"
#include "ops/product/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/lookup/best_rows_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

#ifndef ELIAS_BEST_ROWS_HIT
#define ELIAS_BEST_ROWS_HIT
namespace elias::cpu {

struct Hit {
  float value;
  int32_t row;
  int32_t point;
};

}  // namespace elias::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// The scores [rows, points] with their row's bias that reach the point's bar; returns their number.
size_t find_hits(const float* scores, size_t stride, size_t rows, size_t points, const float* bias,
                 const float* bars, Hit* hits) {
  const Lanes d;
  HWY_ALIGN float values[hn::MaxLanes(d)];
  size_t count = 0;
  for (size_t row = 0; row < rows; ++row) {
    const auto own = hn::Set(d, bias == nullptr ? 0.0F : bias[row]);
    for_lanes(points, [&](size_t i, size_t n) HWY_ATTR {
      const auto value = hn::Add(load(d, scores + row * stride + i, n), own);
      const auto reached = hn::And(hn::FirstN(d, n), hn::Ge(value, load(d, bars + i, n)));
      if (HWY_LIKELY(hn::AllFalse(d, reached))) return;
      hn::Store(value, d, values);
      for (size_t lane = 0; lane < n; ++lane) {
        hits[count] = {values[lane], static_cast<int32_t>(row), static_cast<int32_t>(i + lane)};
        count += values[lane] >= bars[i + lane] ? 1 : 0;
      }
    });
  }
  return count;
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
// Rows whose scores are made at once: with the points' panels they stay in a second-level cache.
constexpr int64_t kBlockRows = 128;
constexpr int64_t kChunkRows = 16 * kBlockRows;

// A value and its row as one number, the greater the better: of equal values the lower row.
using Entry = int64_t;

Entry entry_of(float value, int64_t row) {
  return int64_t{rank_of(value)} * (int64_t{1} << 32) + (~static_cast<uint32_t>(row));
}
float value_of(Entry entry) { return score_of(static_cast<int32_t>(entry >> 32)); }
int32_t row_of(Entry entry) { return static_cast<int32_t>(~static_cast<uint32_t>(entry)); }

/// The best k of what was added, and some more.
class Candidates {
 public:
  void start(size_t k) {
    entries_.clear();
    entries_.reserve(2 * k);
  }

  /// `bar` is raised to what the best k reach, when these are known.
  void add(Entry entry, size_t k, float& bar) {
    entries_.push_back(entry);
    if (entries_.size() == 2 * k) bar = std::max(bar, keep_best(k));
  }

  /// The least value of the best k; -infinity if there are fewer.
  float keep_best(size_t k) {
    if (entries_.size() < k) return kLowest;
    const auto last = entries_.begin() + static_cast<ptrdiff_t>(k) - 1;
    std::nth_element(entries_.begin(), last, entries_.end(), std::greater());
    entries_.resize(k);
    return value_of(*last);
  }

  std::vector<Entry>& entries() { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// What all chunks share: points, packed, and what was found for them so far.
struct Search {
  const ProductKernel& kernel;
  decltype(ELIAS_BY_ISA(find_hits)(Isa{})) find_hits;
  PackedRight points;
  ConstTensorView w;
  const float* bias;  // or null
  std::span<const uint8_t> allowed;
  size_t k;

  std::vector<Candidates>& found;
  std::vector<float>& bars;
  std::mutex mutex{};
};

/// One thread's room.
struct Room {
  Scratch panels, scores, hits;
  std::vector<Candidates> found;
  std::vector<float> bars;
};

// Rows [first, first + rows) of w, packed for the left side of a product.
const void* pack(const Search& search, int64_t first, int64_t rows, Room& room) {
  const ProductKernel& kernel = search.kernel;
  const ConstTensorView& w = search.w;
  const int64_t step = kernel.rows * round_up(w.width(), kernel.depth);
  auto* const panels = static_cast<std::byte*>(
      room.panels.bytes(round_up(rows, kernel.rows) / kernel.rows * step * size_of(kernel.dtype)));
  for (int64_t row = 0; row < rows; row += kernel.rows) {
    void* const panel = panels + row / kernel.rows * step * size_of(kernel.dtype);
    kernel.pack_left(Matrix(w).from(first + row, 0), std::min(kernel.rows, rows - row), w.width(),
                     panel);
  }
  return panels;
}

void scan_block(const Search& search, int64_t first, int64_t rows, Room& room) {
  const ProductKernel& kernel = search.kernel;
  const int64_t N = search.points.outer, depth = round_up(search.points.inner, kernel.depth);
  auto* const scores = static_cast<float*>(room.scores.bytes(rows * N * sizeof(float)));
  auto* const hits = static_cast<Hit*>(room.hits.bytes((rows * N + 1) * sizeof(Hit)));
  PanelBlock block{};
  block.rows = rows;
  block.right = search.points.panels;
  block.right_step = kernel.columns * depth;
  block.columns = N;
  block.depth = depth;
  block.c = scores;
  block.c_stride = N;
  const bool as_they_lie = kernel.multiply_rows != nullptr && search.w.dtype() == kernel.dtype &&
                           depth == search.points.inner && rows % kernel.rows == 0;
  if (as_they_lie) {
    const int64_t stride = search.w.stride();
    kernel.multiply_rows(block, search.w.data<BFloat16>() + first * stride, stride);
  } else {
    block.left = pack(search, first, rows, room);
    block.left_step = kernel.rows * depth;
    kernel.multiply(block);
  }
  const float* const bias = search.bias == nullptr ? nullptr : search.bias + first;
  const size_t count = search.find_hits(scores, N, rows, N, bias, room.bars.data(), hits);
  for (const Hit& hit : std::span(hits, count)) {
    const int64_t id = first + hit.row;
    float& bar = room.bars[hit.point];
    // The bar may have risen within the block.
    if (hit.value < bar || (!search.allowed.empty() && search.allowed[id] == 0)) continue;
    room.found[hit.point].add(entry_of(hit.value, id), search.k, bar);
  }
}

void scan_chunk(Search& search, int64_t begin, int64_t end) {
  static thread_local Room room;
  const auto N = static_cast<size_t>(search.points.outer);
  room.found.resize(std::max(room.found.size(), N));
  for (size_t point = 0; point < N; ++point) room.found[point].start(search.k);
  {
    const std::lock_guard lock(search.mutex);
    room.bars = search.bars;
  }
  for (int64_t first = begin; first < end; first += kBlockRows) {
    scan_block(search, first, std::min(kBlockRows, end - first), room);
  }
  const std::lock_guard lock(search.mutex);
  for (size_t point = 0; point < N; ++point) {
    Candidates& all = search.found[point];
    float& bar = search.bars[point];
    // What no k scores of this chunk reach, those of all rows do not need.
    bar = std::max(bar, room.bars[point]);
    for (const Entry entry : room.found[point].entries()) all.add(entry, search.k, bar);
    if (all.entries().size() > search.k + search.k / 4) {
      bar = std::max(bar, all.keep_best(search.k));
    }
  }
}

void write(std::vector<Entry>& entries, std::span<float> values, std::span<int32_t> ids) {
  std::ranges::sort(entries, std::greater());
  for (size_t i = 0; i < values.size(); ++i) {
    const bool found = i < entries.size();
    values[i] = found ? value_of(entries[i]) : kLowest;
    ids[i] = found ? row_of(entries[i]) : -1;
  }
}

}  // namespace

void best_rows(const Context& context, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
               std::span<const uint8_t> allowed, TensorView values, TensorView ids) {
  const auto N = static_cast<size_t>(x.rows()), k = static_cast<size_t>(values.width());
  const bool halves = w.dtype() == DType::kBFloat16;
  const ProductKernel& kernel =
      product_kernel(context.isa(), halves ? Precision::kBFloat16 : Precision::kFloat32);
  static thread_local Scratch scratch;
  void* const panels =
      scratch.bytes(packed_size(kernel, x.width(), x.rows()) * size_of(kernel.dtype));
  const Matrix points(x, /*is_transposed=*/true);
  static thread_local std::vector<Candidates> found;
  static thread_local std::vector<float> bars;
  found.resize(std::max(found.size(), N));
  for (size_t point = 0; point < N; ++point) found[point].start(k);
  bars.assign(N, kLowest);
  Search search{.kernel = kernel,
                .find_hits = ELIAS_BY_ISA(find_hits)(context.isa()),
                .points = pack_right(context, kernel, points, x.width(), x.rows(), panels),
                .w = w,
                .bias = bias ? bias.data<float>() : nullptr,
                .allowed = allowed,
                .k = k,
                .found = found,
                .bars = bars};
  context.pool().for_chunks(
      static_cast<size_t>(w.rows()), kChunkRows, [&](size_t, size_t begin, size_t end) {
        scan_chunk(search, static_cast<int64_t>(begin), static_cast<int64_t>(end));
      });
  for (size_t point = 0; point < N; ++point) {
    write(search.found[point].entries(), {values.data<float>() + point * values.stride(), k},
          {ids.data<int32_t>() + point * ids.stride(), k});
  }
}

}  // namespace elias::cpu
#endif
