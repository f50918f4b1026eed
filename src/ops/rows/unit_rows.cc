#include "ops/rows/unit_rows.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // unit_rows_cpu.cc
decltype(unit_rows) unit_rows;
decltype(unit_rows_backward) unit_rows_backward;
}  // namespace cpu

void unit_rows(const Context& context, ConstTensorView x, TensorView y, TensorView lengths) {
  constexpr std::string_view kOp = "unit rows";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"x", x, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = x.rows(), D = x.width();
  require_cpu(kOp, check(kOp, {{"x", x, kFloat, {N, D}},
                               {"y", y, kFloat, {N, D}},
                               {"lengths", lengths, kFloat, {N}}}));
  cpu::unit_rows(context, x, y, lengths);
}

void unit_rows_backward(const Context& context, ConstTensorView dy, ConstTensorView y,
                        ConstTensorView lengths, TensorView dx) {
  constexpr std::string_view kOp = "unit rows, backward";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"y", y, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = y.rows(), D = y.width();
  require_cpu(kOp, check(kOp, {{"dy", dy, kFloat, {N, D}},
                               {"y", y, kFloat, {N, D}},
                               {"lengths", lengths, kFloat, {N}},
                               {"dx", dx, kFloat, {N, D}}}));
  cpu::unit_rows_backward(context, dy, y, lengths, dx);
}

}  // namespace elias
