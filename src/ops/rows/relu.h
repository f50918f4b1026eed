// ReLU: max(0, x).
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// y = max(0, x), any equal shapes (y may be x), float32. A NaN stays one.
void relu(const Context& context, ConstTensorView x, TensorView y);

/// dx = dy where y > 0, else 0; y is the result of the forward pass (dx may be dy).
void relu_backward(const Context& context, ConstTensorView dy, ConstTensorView y, TensorView dx);

}  // namespace elias
