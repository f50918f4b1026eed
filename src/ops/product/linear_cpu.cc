// A linear layer on the CPU: its three products are one product, with other operands transposed.
#include <algorithm>
#include "ops/cpu/scratch.h"

#include "ops/product/linear.h"
#include "ops/product/product.h"
#include "ops/rows/convert.h"

namespace elias::cpu {
namespace {

// Rows to read as floats: themselves, or a converted copy.
class FloatRows {
 public:
  FloatRows(const Context& context, ConstTensorView rows) : view_(rows) {
    if (rows.dtype() == DType::kFloat32) return;
    copy_ = Tensor(rows.shape(), DType::kFloat32);
    elias::convert(context, rows, copy_);
    view_ = copy_;
  }
  const ConstTensorView* operator->() const { return &view_; }
  Matrix matrix(int64_t first_row, bool transposed) const {
    return {view_.data<float>() + first_row * view_.stride(), view_.stride(), transposed};
  }

 private:
  Tensor copy_;
  ConstTensorView view_;
};

// Rows of `rows` times packed weights.
void rows_times_weights(const Context& context, ConstTensorView rows, const PackedWeights& w,
                        const SumRule& rule, TensorView result) {
  const FloatRows left(context, rows);
  Tensor floats;  // where the result is not
  if (result.dtype() != DType::kFloat32) floats = Tensor(result.shape(), DType::kFloat32);
  const TensorView sums = floats ? floats.view() : result;
  multiply(context, product_kernel(w.isa(), w.precision()), left.matrix(0, /*transposed=*/false),
           left->rows(), {w.data().bytes(), w.inner(), w.outer()}, rule, sums.data<float>(),
           sums.stride());
  if (floats) elias::convert(context, floats, result);
}

}  // namespace

PackedWeights pack_weights(const Context& context, ConstTensorView w, PackedFor use,
                           Precision precision) {
  const bool forward = use == PackedFor::kForward;
  const int64_t inner = forward ? w.shape()[1] : w.shape()[0];
  const int64_t outer = forward ? w.shape()[0] : w.shape()[1];
  const ProductKernel& kernel = product_kernel(context.isa(), precision);
  Tensor data({packed_size(kernel, inner, outer)}, kernel.dtype);
  pack_right(context, kernel, {w.data<float>(), w.stride(), /*transposed=*/forward}, inner, outer,
             data.view().bytes());
  return {use, precision, context.isa(), inner, outer, std::move(data)};
}

void linear(const Context& context, ConstTensorView x, const PackedWeights& w, ConstTensorView bias,
            Activation activation, TensorView y) {
  SumRule rule;
  rule.bias = bias ? bias.data<float>() : nullptr;
  rule.activation = activation;
  rows_times_weights(context, x, w, rule, y);
}

void linear_input_gradient(const Context& context, ConstTensorView dy, const PackedWeights& w,
                           TensorView dx) {
  rows_times_weights(context, dy, w, {}, dx);
}

void add_linear_input_gradient(const Context& context, ConstTensorView dy, const PackedWeights& w,
                               TensorView dx) {
  SumRule rule;
  rule.accumulate = true;
  rows_times_weights(context, dy, w, rule, dx);
}

void linear_weight_gradient(const Context& context, ConstTensorView dy, ConstTensorView x,
                            Precision precision, TensorView dw) {
  const ProductKernel& kernel = product_kernel(context.isa(), precision);
  const FloatRows left(context, dy);
  const FloatRows right(context, x);
  SumRule rule;
  rule.accumulate = true;
  // A piece of the points at a time, which bounds the memory of the packed x.
  constexpr int64_t kPoints = 6144;
  static thread_local Scratch scratch;
  for (int64_t first = 0; first < dy.rows(); first += kPoints) {
    const int64_t points = std::min(kPoints, dy.rows() - first);
    const size_t bytes = packed_size(kernel, points, x.width()) * size_of(kernel.dtype);
    const PackedRight packed_x = pack_right(context, kernel, right.matrix(first, false), points,
                                            x.width(), scratch.bytes(bytes));
    multiply(context, kernel, left.matrix(first, /*transposed=*/true), dy.width(), packed_x, rule,
             dw.data<float>(), dw.stride());
  }
}

}  // namespace elias::cpu
