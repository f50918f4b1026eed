// The scores of a shortlist: each of N points against its own K of L label vectors.
#pragma once

#include "ops/context.h"
#include "ops/lookup/row_gradient.h"
#include "ops/tensor.h"

namespace elias {

/// z[i, k] = x[i] . w[ids[i, k]] + bias[ids[i, k]]; where ids[i, k] = -1 (an empty place) z is 0.
///   x [N, D], w [L, D], bias [L] or not given, ids [N, K] int32, z [N, K].
/// On the CPU w may be bfloat16, here and below: half the bytes to read, products and sums in
/// float32.
void gather_dot(const Context& context, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
                ConstTensorView ids, TensorView z);

/// dx[i] = sum over k of dz[i, k] * w[ids[i, k]]. Sets dx [N, D].
void gather_dot_input_gradient(const Context& context, ConstTensorView dz, ConstTensorView w,
                               ConstTensorView ids, TensorView dx);

/// The gradient of w [L, D] from dz [N, K]; its sum_row_weights is that of the bias. x, which may
/// be bfloat16 on the CPU, must live as long as the result.
RowGradient gather_dot_weight_gradient(const Context& context, ConstTensorView dz,
                                       ConstTensorView x, ConstTensorView ids, int64_t L);

}  // namespace elias
