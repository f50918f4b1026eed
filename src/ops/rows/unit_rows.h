// Rows of unit length: y = x / |x|. What a direction is learned by, apart from its length (weight
// normalisation), and what makes inner products cosines.
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// y [N, D] = x [N, D] by rows (y may be x), and lengths [N] of the rows of x; float32. A row of
/// zeros, which has no direction, stays one.
void unit_rows(const Context& context, ConstTensorView x, TensorView y, TensorView lengths);

/// dx = (dy - (dy . y) y) / length [N, D] (dx may be dy); 0 where the length is.
void unit_rows_backward(const Context& context, ConstTensorView dy, ConstTensorView y,
                        ConstTensorView lengths, TensorView dx);

}  // namespace elias
