// Columns scaled and shifted: what stands in the place of a layer norm where the weights themselves
// are normalised (GLaS, section 3.1).
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// y = gain * x + shift, all of x and y [N, D] contiguous; gain and shift [D].
void affine(const Context& context, ConstTensorView x, ConstTensorView gain, ConstTensorView shift,
            TensorView y);

/// dy [N, D] becomes dx; adds to dgain and dshift [D].
void affine_backward(const Context& context, ConstTensorView x, ConstTensorView gain, TensorView dy,
                     TensorView dgain, TensorView dshift);

/// lengths [D] of the columns of w [V, D].
void column_lengths(const Context& context, ConstTensorView w, TensorView lengths);

}  // namespace elias
