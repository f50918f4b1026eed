// Exact search for the largest inner products: a product and its top k in one pass.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// The k rows of w [L, D] with the largest w[r] . x[i] + bias[r] for every point x[i] of x [N, D],
/// 1 <= k <= L: values [N, k] float32, falling, and ids [N, k] int32. Of equal values the lower id
/// comes first. Rows that are not allowed, by a flag each (none: all are), and a value that is a
/// NaN are passed over; -1 and -infinity fill the places that are left.
///
/// Scores are made for a block of rows at a time and compared while they are in the cache: w is
/// read once for all points, and nothing of size L is written. bias [L] may be not given. Where w
/// is bfloat16, x is rounded to it too; products and sums are float32.
void best_rows(const Context& context, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
               std::span<const uint8_t> allowed, TensorView values, TensorView ids);

}  // namespace elias
