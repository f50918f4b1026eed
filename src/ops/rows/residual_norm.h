// What stands behind every part of a transformer: dropout of the part's result, its input added,
// and a layer norm, in one pass over memory.
#pragma once

#include "ops/context.h"
#include "ops/rows/dropout.h"
#include "ops/rows/layer_norm.h"
#include "ops/tensor.h"

namespace elias {

struct ResidualNormInput {
  ConstTensorView x;            // [N, D] float32 or bfloat16
  ConstTensorView residual;     // [N, D] float32
  ConstTensorView gain, shift;  // [D] float32
  float epsilon = 1e-12F;
  float dropout = 0;  // of x, 0 <= rate < 1
  DropoutKey key{};
};

/// y = LayerNorm(residual + dropout(x)), y [N, D] float32, not x or residual. `sum` [N, D], float32
/// or bfloat16, becomes what is normalised, for the backward pass; it may be not given, and may be
/// x if it has its type.
void residual_norm(const Context& context, const ResidualNormInput& input, TensorView sum,
                   TensorView y, LayerNormSaved saved);

/// From dy [N, D] and the forward pass's sum: dresidual [N, D] float32 (may be dy), and dx [N, D],
/// float32 or bfloat16; adds to dgain and dshift [D]. Of `input` only gain, dropout and key count.
void residual_norm_backward(const Context& context, const ResidualNormInput& input,
                            ConstTensorView sum, LayerNormSaved saved, ConstTensorView dy,
                            TensorView dresidual, TensorView dx, TensorView dgain,
                            TensorView dshift);

}  // namespace elias
