// Multi-head attention within sequences.
//
// A batch is the tokens of all its sequences, one behind the other: nothing is padded, and a mask
// of padding is what the offsets are (decision 17). For each sequence and head, with q [m, d], k
// and v [n, d] of its tokens:
//
//   p = dropout(softmax(q k' / sqrt(d))),  y = p v
//
// Usually queries are of the same tokens as keys; where only some tokens' results are needed, the
// others need no query.
#pragma once

#include <cstdint>

#include "ops/context.h"
#include "ops/product/linear.h"
#include "ops/rows/dropout.h"
#include "ops/tensor.h"

namespace elias {

/// Tokens of queries and keys of a sequence, at most.
inline constexpr int64_t kMostAttended = 1 << 16;

struct AttentionInput {
  ConstTensorView q;              // [S, D] of all sequences; D is a multiple of heads
  ConstTensorView k, v;           // [T, D]
  ConstTensorView query_offsets;  // [N + 1] int32: where the queries of each sequence begin
  ConstTensorView offsets;        // [N + 1] int32: its keys; none may be without
  int64_t heads;                  // H, each with D / H columns
  float dropout = 0;              // of p, 0 <= rate < 1
  DropoutKey key{};
};

/// y [S, D], and what the backward pass needs of this one: log_sums [H, S] float32, the logarithms
/// of the softmax's denominators. In kFloat32 all else is float32. In kBFloat16 products round
/// their operands, sums and softmax stay float32, and each of q, k, v and y may be bfloat16.
void attention(const Context& context, const AttentionInput& input, Precision precision,
               TensorView y, TensorView log_sums);

/// The gradients dq [S, D], dk, dv [T, D] from dy [S, D]; y and log_sums are those of the forward
/// pass. In kBFloat16 each may be bfloat16, as above.
void attention_backward(const Context& context, const AttentionInput& input, Precision precision,
                        ConstTensorView y, ConstTensorView log_sums, ConstTensorView dy,
                        TensorView dq, TensorView dk, TensorView dv);

}  // namespace elias
