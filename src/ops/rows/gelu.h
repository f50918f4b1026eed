// GELU, x P(X < x) of a normal X, where no product is beside it: forward it is an Activation of
// linear, and backward, right behind a product, linear_input_gradient_through_gelu.
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// dx = dy * GELU'(x), any equal shapes (dx may be dy), float32.
void gelu_backward(const Context& context, ConstTensorView dy, ConstTensorView x, TensorView dx);

}  // namespace elias
