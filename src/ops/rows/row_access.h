// The rows of a matrix as spans, and all of them on all threads: for what needs no kernel of its
// own.
#pragma once

#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "ops/tensor.h"

namespace elias {

inline std::span<float> row_of(TensorView matrix, size_t row) {
  return {matrix.data<float>() + static_cast<int64_t>(row) * matrix.stride(),
          static_cast<size_t>(matrix.width())};
}

inline std::span<const float> row_of(ConstTensorView matrix, size_t row) {
  return {matrix.data<float>() + static_cast<int64_t>(row) * matrix.stride(),
          static_cast<size_t>(matrix.width())};
}

/// Calls use(i) for all i in [0, rows), some rows at a time on each thread.
template <typename Use>
void for_rows(ThreadPool& pool, size_t rows, const Use& use) {
  constexpr size_t kRowsAChunk = 16;
  pool.for_chunks(rows, kRowsAChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) use(i);
  });
}

}  // namespace elias
