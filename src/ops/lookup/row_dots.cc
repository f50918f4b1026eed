#include "ops/lookup/row_dots.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // row_dots_cpu.cc
RowDotKernels row_dot_kernels(Isa isa, DType dtype);
}  // namespace cpu

RowDots::RowDots(Isa isa, ConstTensorView w, ConstTensorView bias) {
  constexpr std::string_view kOp = "row dots";
  constexpr int64_t kAny = Operand::kAny;
  check(kOp, {{"w", w, float_type_of(w), {kAny, kAny}}});
  require_cpu(kOp, check(kOp, {{"w", w, float_type_of(w), {kAny, kAny}},
                               {"bias", bias, DType::kFloat32, {w.rows()}}}));
  rows_ = {.w = w.bytes(),
           .bias = bias.data<float>(),
           .stride = static_cast<size_t>(w.stride()),
           .width = static_cast<size_t>(w.width())};
  kernels_ = cpu::row_dot_kernels(isa, w.dtype());
}

}  // namespace elias
