// Sums over the rows of a matrix, in two steps: chunks of rows are summed by the operator at hand
// into one row of partial sums each, and the rows of partial sums are added up here.
#pragma once

#include <algorithm>

#include "ops/cuda/cuda.cuh"

namespace elias::cuda {

/// Rows a chunk: a function of their number alone, so that no bit of a sum depends on the device.
/// Twelve chunks for each of the 132 multiprocessors of an H200 are done in whole turns, whether a
/// multiprocessor takes one, two, three or four at a time.
inline int64_t rows_per_partial_sum(int64_t rows) {
  return std::max<int64_t>(16, ceil_div<int64_t>(rows, 12 * 132));
}

/// total [width] += the columns of `partial` [chunks, width], whose rows lie `stride` apart.
void add_partial_sums(const float* partial, int64_t stride, int64_t chunks, int64_t width,
                      float* total);

}  // namespace elias::cuda
