// The gradient of a matrix W [V, D] of which a batch uses few rows: an embedding table, the label
// classifiers.
//
// It is kept as the products it is made of and multiplied out row by row where it is used, so that
// no gradient of the size of W, nor of all the rows in use, need exist: an optimiser's owner of a
// row sums the row and applies it in one pass.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "ops/lookup/key_groups.h"
#include "ops/tensor.h"

namespace elias {

/// dW[rows[r]] = sum over e in [offsets[r], offsets[r + 1]) of weights[e] * source[points[e]];
/// all other rows of dW are zero.
struct RowGradient {
  Tensor rows;             // [R] int32, rising
  Tensor offsets;          // [R + 1] int32
  Tensor points;           // [n] int32, rows of source
  Tensor weights;          // [n] float32
  ConstTensorView source;  // [N, D] float32, or bfloat16 on the CPU; the caller keeps it alive

  int64_t size() const { return rows.shape()[0]; }
};

/// values [R, D], which the caller keeps alive, as the gradient of the rows [R], rising.
RowGradient gradient_of_rows(std::span<const int32_t> rows, ConstTensorView values);

/// values [R, D]: the rows multiplied out.
void expand_rows(const Context& context, const RowGradient& gradient, TensorView values);

/// sums [R]: the sums of each row's weights, the gradient of a bias beside W.
void sum_row_weights(const Context& context, const RowGradient& gradient, TensorView sums);

}  // namespace elias
