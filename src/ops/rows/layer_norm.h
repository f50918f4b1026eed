// Layer norm: every row of D values to mean 0 and deviation 1, then a learned gain and bias.
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// What the backward pass needs of the forward pass, a number a row: [N] each, float32.
struct LayerNormSaved {
  TensorView mean;
  TensorView inverse_deviation;
};

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias, row by row.
///   x, y [N, D] (y may be x), gain, bias [D]; all float32.
void layer_norm(const Context& context, ConstTensorView x, ConstTensorView gain,
                ConstTensorView bias, float epsilon, TensorView y, LayerNormSaved saved);

/// dx [N, D] from dy [N, D] (dx may be dy); adds to dgain, dbias [D].
void layer_norm_backward(const Context& context, ConstTensorView dy, ConstTensorView x,
                         ConstTensorView gain, LayerNormSaved saved, TensorView dx,
                         TensorView dgain, TensorView dbias);

}  // namespace elias
