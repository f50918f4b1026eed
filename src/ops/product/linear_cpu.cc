// A linear layer on the CPU: its three products are one product, with other operands transposed.
#include <algorithm>

#include "ops/cpu/scratch.h"
#include "ops/product/linear.h"
#include "ops/product/product.h"

namespace elias::cpu {
namespace {

// Rows of `rows` times packed weights.
void rows_times_weights(const Context& context, ConstTensorView rows, const PackedWeights& w,
                        const ProductRule& rule, TensorView result) {
  multiply(context, product_kernel(w.isa(), w.precision()), Matrix(rows), rows.rows(),
           {w.data().bytes(), w.inner(), w.outer()}, rule, result);
}

}  // namespace

PackedWeights pack_weights(const Context& context, ConstTensorView w, PackedFor use,
                           Precision precision) {
  const bool forward = use == PackedFor::kForward;
  const int64_t inner = forward ? w.shape()[1] : w.shape()[0];
  const int64_t outer = forward ? w.shape()[0] : w.shape()[1];
  const ProductKernel& kernel = product_kernel(context.isa(), precision);
  Tensor data({packed_size(kernel, inner, outer)}, kernel.dtype);
  pack_right(context, kernel, Matrix(w, /*is_transposed=*/forward), inner, outer,
             data.view().bytes());
  return {use, precision, context.isa(), inner, outer, std::move(data)};
}

void linear(const Context& context, ConstTensorView x, const PackedWeights& w, ConstTensorView bias,
            Activation activation, TensorView y, TensorView before) {
  ProductRule rule;
  rule.sums.bias = bias ? bias.data<float>() : nullptr;
  rule.sums.activation = activation;
  rule.before = before;
  rows_times_weights(context, x, w, rule, y);
}

void linear_input_gradient(const Context& context, ConstTensorView dy, const PackedWeights& w,
                           TensorView dx) {
  rows_times_weights(context, dy, w, {}, dx);
}

void linear_input_gradient_through_gelu(const Context& context, ConstTensorView dy,
                                        const PackedWeights& w, ConstTensorView before,
                                        TensorView dbefore) {
  ProductRule rule;
  rule.through = before;
  rows_times_weights(context, dy, w, rule, dbefore);
}

void add_linear_input_gradient(const Context& context, ConstTensorView dy, const PackedWeights& w,
                               TensorView dx) {
  ProductRule rule;
  rule.sums.accumulate = true;
  rows_times_weights(context, dy, w, rule, dx);
}

void linear_weight_gradient(const Context& context, ConstTensorView dy, ConstTensorView x,
                            Precision precision, TensorView dw) {
  const ProductKernel& kernel = product_kernel(context.isa(), precision);
  ProductRule rule;
  rule.sums.accumulate = true;
  // A piece of the points at a time, which bounds the memory of the packed x.
  constexpr int64_t kPoints = 6144;
  static thread_local Scratch scratch;
  for (int64_t first = 0; first < dy.rows(); first += kPoints) {
    const int64_t points = std::min(kPoints, dy.rows() - first);
    const size_t bytes = packed_size(kernel, points, x.width()) * size_of(kernel.dtype);
    const PackedRight packed_x = pack_right(context, kernel, Matrix(x.slice(first, first + points)),
                                            points, x.width(), scratch.bytes(bytes));
    const Matrix left(dy.slice(first, first + points), /*is_transposed=*/true);
    multiply(context, kernel, left, dy.width(), packed_x, rule, dw);
  }
}

}  // namespace elias::cpu
