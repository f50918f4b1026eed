// Embedding bag: a point's vector is the weighted sum of the rows its features name.
//
// The features of N points come as the rows of a sparse matrix: point n has features
// ids[offsets[n]] .. ids[offsets[n + 1] - 1], with their weights.
#pragma once

#include "ops/context.h"
#include "ops/lookup/row_gradient.h"
#include "ops/tensor.h"

namespace elias {

struct Bags {
  ConstTensorView offsets;  // [N + 1] int32, rising from 0 to n
  ConstTensorView ids;      // [n] int32
  ConstTensorView weights;  // [n] float32
};

/// y[i] = sum over the features e of point i of weights[e] * table[ids[e]].
///   table [V, D], y [N, D]; float32. A point without features gets zeros.
void embedding_bag(const Context& context, const Bags& bags, ConstTensorView table, TensorView y);

/// The gradient of the table [V, D] from dy [N, D], which must live as long as the result.
RowGradient embedding_bag_backward(const Context& context, const Bags& bags, ConstTensorView dy,
                                   int64_t V);

}  // namespace elias
