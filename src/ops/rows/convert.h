// Between float32 and bfloat16.
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// y = x, any equal shapes, one float32 and the other bfloat16. Rounds to
/// nearest, ties to even; a NaN stays one.
void convert(const Context& context, ConstTensorView x, TensorView y);

}  // namespace elias
