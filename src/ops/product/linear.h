// Matrix products in the three forms training needs, for a linear layer of weights W [O, D]:
//
//   forward           y  = act(x W' + b)   x [N, D], y [N, O]
//   input gradient    dx = dy W            dy [N, O], dx [N, D]
//   weight gradient   dW += dy' x          and db += the column sums of dy
//
// Weights are packed before they are used, into the order in which the kernels read them: a packing
// serves every batch until the weights change, and the first two forms read it in the same way, as
// a product of rows with a matrix of inner() x outer().
//
// In kBFloat16 both operands are rounded to bf16, products and sums are float32. The hardware's
// tiles, or its products of bf16 vectors, are used where the instruction set has them; elsewhere
// the result is the same up to the order of summation, at the speed of float32. Rows that are
// given, and results that are not added to, may then be bfloat16 themselves.
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

enum class Precision : uint8_t { kFloat32, kBFloat16 };
enum class Activation : uint8_t { kNone, kRelu, kGelu };

/// What packed weights are multiplied with: rows of x [N, D], or rows of dy [N, O].
enum class PackedFor : uint8_t { kForward, kInputGradient };

/// Weights in the order of one back end's kernels. Made by pack_weights; used with a context of the
/// same instruction set.
class PackedWeights {
 public:
  PackedWeights() = default;
  PackedWeights(PackedFor use, Precision precision, Isa isa, int64_t inner, int64_t outer,
                Tensor data)
      : data_(std::move(data)),
        inner_(inner),
        outer_(outer),
        use_(use),
        precision_(precision),
        isa_(isa) {}

  PackedFor use() const { return use_; }
  Precision precision() const { return precision_; }
  Isa isa() const { return isa_; }
  Device device() const { return data_.device(); }
  /// Forward: inner = D, outer = O. Input gradient: inner = O, outer = D.
  int64_t inner() const { return inner_; }
  int64_t outer() const { return outer_; }
  ConstTensorView data() const { return data_; }

 private:
  Tensor data_;
  int64_t inner_ = 0;
  int64_t outer_ = 0;
  PackedFor use_ = PackedFor::kForward;
  Precision precision_ = Precision::kFloat32;
  Isa isa_ = Isa::kScalar;
};

/// W [O, D] float32.
PackedWeights pack_weights(const Context& context, ConstTensorView w, PackedFor use,
                           Precision precision);

/// y [N, O] = act(x [N, D] W' + bias [O]); a bias that is not given counts as zero; it is float32.
/// What ReLU makes of a NaN is a NaN on the CPU, and may be 0 on a GPU, which also rounds the bias
/// of a y in bfloat16 before it is added. With GELU, `before` [N, O], if given, becomes what it is
/// of, for the backward pass.
void linear(const Context& context, ConstTensorView x, const PackedWeights& w, ConstTensorView bias,
            Activation activation, TensorView y, TensorView before = {});

/// dx [N, D] = dy [N, O] W. With an activation, dy is the gradient before it (see relu_backward).
void linear_input_gradient(const Context& context, ConstTensorView dy, const PackedWeights& w,
                           TensorView dx);
/// dx += dy W; dx is float32.
void add_linear_input_gradient(const Context& context, ConstTensorView dy, const PackedWeights& w,
                               TensorView dx);
/// dbefore [N, D] = (dy W) * GELU'(before): the gradient of what GELU made x of (see linear).
void linear_input_gradient_through_gelu(const Context& context, ConstTensorView dy,
                                        const PackedWeights& w, ConstTensorView before,
                                        TensorView dbefore);

/// dw [O, D] += dy [N, O]' x [N, D]; dw is float32.
void linear_weight_gradient(const Context& context, ConstTensorView dy, ConstTensorView x,
                            Precision precision, TensorView dw);

/// db [O] += the sum of the rows of dy [N, O]; db is float32, dy may be bfloat16 on the CPU.
void linear_bias_gradient(const Context& context, ConstTensorView dy, TensorView db);

}  // namespace elias
