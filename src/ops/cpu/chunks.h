// How CPU operators cut their work: by the problem's size alone, so that no bit of a result depends
// on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/aligned_buffer.h"

namespace elias::cpu {

/// Rows a chunk, where rows are independent: about 64 KiB of floats, so that handing out a chunk
/// costs little beside its work.
constexpr size_t rows_per_chunk(size_t width) {
  return std::max<size_t>(1, 16384 / std::max<size_t>(1, width));
}

/// Rows a chunk, where each chunk sums over its rows: at most 64 chunks, which bounds the memory of
/// the sums, and at least 16 rows, which bounds their share of the work.
constexpr size_t rows_per_partial_sum(size_t rows) {
  return std::max<size_t>(16, (rows + 63) / 64);
}

/// One row of sums a chunk, zero at first.
class PartialSums {
 public:
  PartialSums(size_t chunks, size_t width)
      : sums_(chunks * width), chunks_(chunks), width_(width) {}

  float* row(size_t chunk) { return sums_.data() + chunk * width_; }

  /// Adds the columns from `first` on of every chunk to `total`, in the chunks' order.
  void add_to(size_t first, std::span<float> total) {
    for (size_t chunk = 0; chunk < chunks_; ++chunk) {
      const float* own = row(chunk) + first;
      for (size_t i = 0; i < total.size(); ++i) total[i] += own[i];
    }
  }

 private:
  AlignedBuffer<float> sums_;
  size_t chunks_;
  size_t width_;
};

}  // namespace elias::cpu
