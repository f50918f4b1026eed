// Between float32 and bfloat16.
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// y = x, any equal shapes, one float32 and the other bfloat16. Rounds to
/// nearest, ties to even; a NaN stays one.
void convert(const Context& context, ConstTensorView x, TensorView y);

/// y[r] = x[r] for r in rows [R] int32: x [V, D] float32, y [V, D] bfloat16; other rows of y stay.
void convert_rows(const Context& context, ConstTensorView x, ConstTensorView rows, TensorView y);

}  // namespace elias
