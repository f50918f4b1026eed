// The k largest values of every row, exactly.
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// values [N, k] float32, falling, and ids [N, k] int32, their columns in scores [N, L], 1 <= k <=
/// L. Of equal values the lower id comes first. A NaN counts as less than everything.
void top_k(const Context& context, ConstTensorView scores, TensorView values, TensorView ids);

}  // namespace elias
