// Weighted sums of rows on the CPU: what embedding bags, row gradients and sums by key come down
// to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias::cpu {

/// A list of n terms: term e is weights[e] * row points[e] of a matrix of float or BFloat16.
template <typename Value>
struct WeightedRows {
  const int32_t* points;  // [n]; a negative one is an empty place
  const float* weights;   // [n], or null: all are 1
  size_t size;            // n
  const Value* source;    // rows of `width` values, `stride` apart
  size_t stride;
  size_t width;
};

/// sum [width] = the terms [begin, end) of `rows`, added up in order; or, if it is not new, they
/// are added to what it holds.
template <typename Value>
using SumTerms = void(const WeightedRows<Value>& rows, size_t begin, size_t end, bool is_new,
                      float* sum);

/// The kernel for an instruction set; cpu/weighted_rows-inl.h has it for use inside others.
template <typename Value>
SumTerms<Value>* sum_terms_for(Isa isa);
template <>
SumTerms<float>* sum_terms_for(Isa isa);
template <>
SumTerms<BFloat16>* sum_terms_for(Isa isa);

/// Columns that one thread sums: few lists are shared out by columns too, which changes no bit.
constexpr size_t columns_per_sum(size_t lists, size_t width) {
  constexpr size_t kFew = 64;
  constexpr size_t kColumns = 256;  // those of one pass over the list, at most
  return lists < kFew && width > kColumns ? kColumns : std::max<size_t>(1, width);
}

/// sums[r] = sum over e in [offsets[r], offsets[r + 1]) of weights[e] * source[points[e]], the
/// terms added in their order.
///   offsets [R + 1], points [n] int32, weights [n] or not given, source [N, D] float32 or
///   bfloat16, sums [R, D].
void sum_weighted_rows(const Context& context, ConstTensorView offsets, ConstTensorView points,
                       ConstTensorView weights, ConstTensorView source, TensorView sums);

}  // namespace elias::cpu
