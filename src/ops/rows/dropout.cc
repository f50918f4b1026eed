#include "ops/rows/dropout.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // dropout_cpu.cc
decltype(dropout) dropout;
}  // namespace cpu

void dropout(const Context& context, ConstTensorView x, float rate, DropoutKey key, TensorView y) {
  constexpr std::string_view kOp = "dropout";
  require_cpu(kOp, check_alike(kOp, {{"x", x}, {"y", y}}));
  check_dropout(kOp, rate);
  cpu::dropout(context, x, rate, key, y);
}

}  // namespace elias
