// Grouping and reduction by key: what turns pairs (point, label) into one owner per label.
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// n keys sorted into R groups. All int32, on the device of the keys.
struct KeyGroups {
  Tensor keys;       // [R] the distinct keys, rising
  Tensor offsets;    // [R + 1] group r is positions[offsets[r]] .. positions[offsets[r + 1] - 1]
  Tensor positions;  // [n'] where in the given keys, rising within a group; n' <= n without pads

  int64_t size() const { return keys.shape()[0]; }
};

/// Groups keys of any shape (n elements, contiguous, int32), all in [-1, bound). Key -1 marks an
/// empty place and is in no group. n < 2^31.
KeyGroups group_by_key(const Context& context, ConstTensorView keys, int64_t bound);

/// sums [R, D] of values [n, D]: each group's rows added up in the order of their positions.
void sum_by_key(const Context& context, const KeyGroups& groups, ConstTensorView values,
                TensorView sums);

/// maxima [R] of values [n], and where each was found: positions [R], the lowest of equals. A NaN
/// counts as less than everything.
void max_by_key(const Context& context, const KeyGroups& groups, ConstTensorView values,
                TensorView maxima, TensorView positions);

}  // namespace elias
