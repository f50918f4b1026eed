#include "ops/rows/dropout.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // dropout_cpu.cc
decltype(dropout) dropout;
}  // namespace cpu

void dropout(const Context& context, ConstTensorView x, float rate, DropoutKey key, TensorView y) {
  constexpr std::string_view kOp = "dropout";
  require_cpu(kOp, check_alike(kOp, {{"x", x}, {"y", y}}));
  if (!(rate >= 0 && rate < 1)) {
    throw InputError("{}: rate is {}, but must be in [0, 1)", kOp, rate);
  }
  cpu::dropout(context, x, rate, key, y);
}

}  // namespace elias
