// Dropout: each value is set to zero with probability `rate`, the others are scaled by 1 / (1 -
// rate).
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// Which values are dropped: a function of seed, stream and the value's place alone, so that no
/// mask is kept between forward and backward pass. Give every use and every step its own stream.
struct DropoutKey {
  uint64_t seed;
  uint64_t stream;
};

/// y of x, any equal shapes (y may be x), float32, 0 <= rate < 1. The same call with dy for x and
/// dx for y is the backward pass.
void dropout(const Context& context, ConstTensorView x, float rate, DropoutKey key, TensorView y);

}  // namespace elias
