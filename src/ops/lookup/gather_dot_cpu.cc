// Gathered dot products on the CPU: a point's vector stays in the cache, the rows it meets come
// from memory (ops/cpu/dot_rows-inl.h).
//
// Where a batch is large enough for its points to share rows, and their shortlists name rows in
// rising order, all points are served by a block of rows before the next: a block comes from memory
// once, and stays in the second cache for the whole batch.
#include "ops/lookup/gather_dot.h"

#include <algorithm>
#include <atomic>

#include "ops/cpu/scratch.h"
#include "ops/lookup/row_terms.h"
#include "ops/lookup/weighted_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/lookup/gather_dot_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/dot_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// z[k] for k in [begin, end) of one point's K ids. `room` [width] is for bfloat16 weights.
template <typename W>
void score(const float* x, const W* w, size_t stride, size_t width, const float* bias,
           const int32_t* ids, size_t begin, size_t end, size_t K, float* room, float* z) {
  dot_listed(in_order_of(x, w, width, room), w, stride, width, bias, ids, begin, end, K, z);
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

namespace {

// Half of a second cache, which the points' vectors share.
constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kPointsPerChunk = 16;
// How often a row must be met, on average, for blocks to be worth while.
constexpr int64_t kMeetings = 4;

bool rising(const Context& context, ConstTensorView ids) {
  std::atomic<bool> all = true;
  context.pool().for_chunks(ids.rows(), 64, [&](size_t, size_t begin, size_t end) {
    for (size_t point = begin; point < end; ++point) {
      const int32_t* own = ids.data<int32_t>() + point * ids.stride();
      // As unsigned numbers, so that empty places (-1) come last.
      const bool sorted = std::is_sorted(own, own + ids.width(), [](int32_t a, int32_t b) {
        return static_cast<uint32_t>(a) < static_cast<uint32_t>(b);
      });
      if (!sorted) all = false;
    }
  });
  return all;
}

bool by_blocks(const Context& context, ConstTensorView ids, ConstTensorView w) {
  return ids.shape().elements() >= kMeetings * w.rows() &&
         static_cast<size_t>(w.rows() * w.stride()) * size_of(w.dtype()) > kBlockBytes &&
         rising(context, ids);
}

// Calls serve(point, begin, end) for the places of each point's shortlist that name rows of a
// block, for one block after the other.
template <typename Serve>
void for_blocks(const Context& context, ConstTensorView ids, ConstTensorView w,
                const Serve& serve) {
  const auto N = static_cast<size_t>(ids.rows());
  const auto K = static_cast<uint32_t>(ids.width());
  const size_t rows =
      std::max<size_t>(1, kBlockBytes / (static_cast<size_t>(w.stride()) * size_of(w.dtype())));
  static thread_local Scratch scratch;
  auto* const next = static_cast<uint32_t*>(scratch.bytes(N * sizeof(uint32_t)));
  std::fill(next, next + N, 0U);
  for (size_t first = 0; first < static_cast<size_t>(w.rows()); first += rows) {
    context.pool().for_chunks(N, kPointsPerChunk, [&](size_t, size_t from, size_t to) {
      for (size_t point = from; point < to; ++point) {
        const int32_t* own = ids.data<int32_t>() + point * ids.stride();
        const uint32_t begin = next[point];
        uint32_t end = begin;
        while (end < K && static_cast<uint32_t>(own[end]) < first + rows) ++end;
        if (end > begin) serve(point, begin, end);
        next[point] = end;
      }
    });
  }
}

template <typename W, typename Kernel>
void score_all(const Context& context, Kernel kernel, ConstTensorView x, ConstTensorView w,
               ConstTensorView bias, ConstTensorView ids, TensorView z) {
  const size_t K = ids.width();
  const auto score = [&](size_t point, size_t begin, size_t end) {
    static thread_local Scratch scratch;
    auto* const room = static_cast<float*>(scratch.bytes(w.width() * sizeof(float)));
    kernel(x.data<float>() + point * x.stride(), w.data<W>(), w.stride(), w.width(),
           bias ? bias.data<float>() : nullptr, ids.data<int32_t>() + point * ids.stride(), begin,
           end, K, room, z.data<float>() + point * z.stride());
  };
  if (by_blocks(context, ids, w)) {
    for (int64_t point = 0; point < z.rows(); ++point) {  // empty places are in no block
      std::fill_n(z.data<float>() + point * z.stride(), K, 0.0F);
    }
    return for_blocks(context, ids, w, score);
  }
  // A shortlist is cut too, so that all threads serve a single point with a long one.
  const size_t block = std::min(std::max<size_t>(1, K), 4 * rows_per_chunk(w.width()));
  const size_t blocks = chunk_count(K, block);
  const size_t grain = rows_per_chunk(block * w.width());
  context.pool().for_chunks(ids.rows() * blocks, grain, [&](size_t, size_t first, size_t last) {
    for (size_t unit = first; unit < last; ++unit) {
      const size_t begin = unit % blocks * block;
      score(unit / blocks, begin, std::min(K, begin + block));
    }
  });
}

template <typename W>
void sum_all(const Context& context, ConstTensorView dz, ConstTensorView w, ConstTensorView ids,
             TensorView dx) {
  const auto kernel = sum_terms_for<W>(context.isa());
  const size_t N = ids.shape()[0];
  const size_t K = ids.width();
  const auto add = [&](size_t point, size_t begin, size_t end, size_t column, size_t columns,
                       bool is_new) {
    const WeightedRows<W> rows{.points = ids.data<int32_t>() + point * ids.stride(),
                               .weights = dz.data<float>() + point * dz.stride(),
                               .size = K,
                               .source = w.data<W>() + column,
                               .stride = static_cast<size_t>(w.stride()),
                               .width = std::min(columns, w.width() - column)};
    kernel(rows, begin, end, is_new, dx.data<float>() + point * dx.stride() + column);
  };
  if (by_blocks(context, ids, w)) {
    for (int64_t point = 0; point < dx.rows(); ++point) {
      std::fill_n(dx.data<float>() + point * dx.stride(), dx.width(), 0.0F);
    }
    return for_blocks(context, ids, w, [&](size_t point, size_t begin, size_t end) {
      add(point, begin, end, 0, w.width(), /*is_new=*/false);
    });
  }
  const size_t columns = columns_per_sum(N, w.width());
  const size_t blocks = chunk_count(w.width(), columns);
  const size_t grain = rows_per_chunk(columns * (1 + K));
  context.pool().for_chunks(N * blocks, grain, [&](size_t, size_t first, size_t last) {
    for (size_t unit = first; unit < last; ++unit) {
      add(unit / blocks, 0, K, unit % blocks * columns, columns, /*is_new=*/true);
    }
  });
}

}  // namespace

void gather_dot(const Context& context, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
                ConstTensorView ids, TensorView z) {
  if (w.dtype() == DType::kBFloat16) {
    const auto kernel = ELIAS_BY_ISA(score<BFloat16>)(context.isa());
    return score_all<BFloat16>(context, kernel, x, w, bias, ids, z);
  }
  score_all<float>(context, ELIAS_BY_ISA(score<float>)(context.isa()), x, w, bias, ids, z);
}

void gather_dot_input_gradient(const Context& context, ConstTensorView dz, ConstTensorView w,
                               ConstTensorView ids, TensorView dx) {
  const auto sum = w.dtype() == DType::kBFloat16 ? sum_all<BFloat16> : sum_all<float>;
  sum(context, dz, w, ids, dx);
}

RowGradient gather_dot_weight_gradient(const Context& context, ConstTensorView dz,
                                       ConstTensorView x, ConstTensorView ids, int64_t L) {
  const auto K = static_cast<int32_t>(std::max<int64_t>(1, ids.width()));
  const Tensor dense = ids.contiguous() ? Tensor() : copy_to(Device::kCpu, ids);
  return row_gradient_of(
      context, group_by_key(context, dense ? ConstTensorView(dense) : ids, L), x,
      [&](int32_t position) {
        const int32_t point = position / K;
        return RowTerm{point, dz.data<float>()[point * dz.stride() + position % K]};
      });
}

}  // namespace elias::cpu
#endif
