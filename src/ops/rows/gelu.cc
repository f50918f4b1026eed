#include "ops/rows/gelu.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // gelu_cpu.cc
decltype(gelu_backward) gelu_backward;
}  // namespace cpu

void gelu_backward(const Context& context, ConstTensorView dy, ConstTensorView x, TensorView dx) {
  constexpr std::string_view kOp = "GELU, backward";
  require_cpu(kOp, check_alike(kOp, {{"dy", dy}, {"x", x}, {"dx", dx}}));
  cpu::gelu_backward(context, dy, x, dx);
}

}  // namespace elias
