#include "ops/rows/relu.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // relu_cpu.cc
decltype(relu) relu;
decltype(relu_backward) relu_backward;
}  // namespace cpu

void relu(const Context& context, ConstTensorView x, TensorView y) {
  constexpr std::string_view kOp = "relu";
  require_cpu(kOp, check_alike(kOp, {{"x", x}, {"y", y}}));
  cpu::relu(context, x, y);
}

void relu_backward(const Context& context, ConstTensorView dy, ConstTensorView y, TensorView dx) {
  constexpr std::string_view kOp = "relu, backward";
  require_cpu(kOp, check_alike(kOp, {{"dy", dy}, {"y", y}, {"dx", dx}}));
  cpu::relu_backward(context, dy, y, dx);
}

}  // namespace elias
