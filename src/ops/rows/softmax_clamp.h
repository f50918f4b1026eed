// The scores of clusters and edges: s = min(1, scale * softmax(z)), row by row (ELIAS, eq. 1 and
// 2).
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// s [N, C] of z [N, C] (s may be z); log_sum [N] keeps log(sum(exp(z))) of each row for the
/// backward pass. A place with z = -infinity is left out of its row: s = 0. A row of nothing else
/// gets zeros, and -infinity for its log_sum. A NaN makes a NaN of its whole row. All float32,
/// scale > 0.
void softmax_clamp(const Context& context, ConstTensorView z, float scale, TensorView s,
                   TensorView log_sum);

/// dz [N, C] from ds [N, C] (dz may be ds). The softmax is computed anew from log_sum, which is
/// rounded at the size of z: relative to the largest gradient of a row, dz is off by 1e-7 max(1,
/// |z|). The clamp lets a gradient pass where scale * softmax(z) <= 1.
void softmax_clamp_backward(const Context& context, ConstTensorView ds, ConstTensorView z,
                            ConstTensorView log_sum, float scale, TensorView dz);

}  // namespace elias
