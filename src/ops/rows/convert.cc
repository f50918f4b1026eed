#include "ops/rows/convert.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // convert_cpu.cc
decltype(convert) convert;
decltype(convert_rows) convert_rows;
}  // namespace cpu
namespace cuda {  // convert_cuda.cu
decltype(convert) convert;
}  // namespace cuda

void convert(const Context& context, ConstTensorView x, TensorView y) {
  constexpr std::string_view kOp = "convert";
  if (x.dtype() == y.dtype() || x.dtype() == DType::kInt32 || y.dtype() == DType::kInt32) {
    throw InputError("{}: x is {} and y is {}, but one must be float32 and the other bfloat16", kOp,
                     name_of(x.dtype()), name_of(y.dtype()));
  }
  if (x.shape() != y.shape() || x.device() != y.device()) {
    throw InputError("{}: x is {} on {}, but y is {} on {}", kOp, x.shape().text(),
                     name_of(x.device()), y.shape().text(), name_of(y.device()));
  }
  if constexpr (kCudaBuilt) {
    if (x.device() == Device::kCuda) return cuda::convert(context, x, y);
  }
  cpu::convert(context, x, y);
}

void convert_rows(const Context& context, ConstTensorView x, ConstTensorView rows, TensorView y) {
  constexpr std::string_view kOp = "convert rows";
  const Device device = check(kOp, {{"x", x, DType::kFloat32, {Operand::kAny, Operand::kAny}},
                                    {"rows", rows, DType::kInt32, {Operand::kAny}},
                                    {"y", y, DType::kBFloat16, {x.shape()[0], Operand::kAny}}});
  check(kOp, {{"x", x, DType::kFloat32, {Operand::kAny, y.width()}}});
  require_cpu(kOp, device);
  check_ids(kOp, "rows", rows, x.shape()[0]);
  cpu::convert_rows(context, x, rows, y);
}

}  // namespace elias
