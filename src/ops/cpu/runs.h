// How CPU operators that work value by value walk over operands of one shape: in runs, pieces of a
// row short enough to stay in cache. Like all cuts they depend on the problem's size alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "base/thread_pool.h"
#include "ops/cpu/chunks.h"
#include "ops/tensor.h"

namespace elias::cpu {

/// `count` values from `column` of row `row` on, in the operands as matrices.
struct Run {
  size_t row;
  size_t column;
  size_t count;

  template <typename T>
  const T* of(const ConstTensorView& view) const {
    return view.data<T>() + row * view.stride() + column;
  }
  template <typename T>
  T* of(const TensorView& view) const {
    return view.data<T>() + row * view.stride() + column;
  }
};

/// Calls body(run) for runs that cover the operands, all of one shape. Where every operand is
/// contiguous, all its values count as one row.
template <typename Body>
void for_runs(ThreadPool& pool, std::initializer_list<ConstTensorView> operands, const Body& body) {
  constexpr size_t kLongest = 16384;
  const ConstTensorView& first = *operands.begin();
  const bool one_row = std::all_of(operands.begin(), operands.end(),
                                   [](const ConstTensorView& view) { return view.contiguous(); });
  const size_t width = one_row ? first.shape().elements() : first.width();
  const size_t rows = one_row ? 1 : first.rows();
  const size_t runs_per_row = chunk_count(width, kLongest);
  const size_t grain = rows_per_chunk(std::min(width, kLongest));
  pool.for_chunks(rows * runs_per_row, grain, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t column = i % runs_per_row * kLongest;
      body(Run{i / runs_per_row, column, std::min(kLongest, width - column)});
    }
  });
}

}  // namespace elias::cpu
