#include "ops/lookup/gather_dot.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // gather_dot_cpu.cc
decltype(gather_dot) gather_dot;
decltype(gather_dot_input_gradient) gather_dot_input_gradient;
decltype(gather_dot_weight_gradient) gather_dot_weight_gradient;
}  // namespace cpu
namespace cuda {  // gather_dot_cuda.cu
decltype(gather_dot) gather_dot;
decltype(gather_dot_input_gradient) gather_dot_input_gradient;
decltype(gather_dot_weight_gradient) gather_dot_weight_gradient;
}  // namespace cuda

void gather_dot(const Context& context, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
                ConstTensorView ids, TensorView z) {
  constexpr std::string_view kOp = "gather dot";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"w", w, kFloat, {Operand::kAny, Operand::kAny}},
              {"ids", ids, DType::kInt32, {Operand::kAny, Operand::kAny}}});
  const int64_t N = ids.shape()[0];
  const int64_t K = ids.width();
  const int64_t L = w.shape()[0];
  const int64_t D = w.width();
  const Device device = check(kOp, {{"x", x, kFloat, {N, D}},
                                    {"w", w, kFloat, {L, D}},
                                    {"ids", ids, DType::kInt32, {N, K}},
                                    {"z", z, kFloat, {N, K}}});
  if (bias) check(kOp, {{"x", x, kFloat, {N, D}}, {"bias", bias, kFloat, {L}}});
  check_ids(kOp, "ids", ids, L, -1);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::gather_dot(context, x, w, bias, ids, z);
  }
  cpu::gather_dot(context, x, w, bias, ids, z);
}

void gather_dot_input_gradient(const Context& context, ConstTensorView dz, ConstTensorView w,
                               ConstTensorView ids, TensorView dx) {
  constexpr std::string_view kOp = "gather dot, input gradient";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"w", w, kFloat, {Operand::kAny, Operand::kAny}},
              {"ids", ids, DType::kInt32, {Operand::kAny, Operand::kAny}}});
  const int64_t N = ids.shape()[0];
  const int64_t K = ids.width();
  const int64_t L = w.shape()[0];
  const int64_t D = w.width();
  const Device device = check(kOp, {{"dz", dz, kFloat, {N, K}},
                                    {"w", w, kFloat, {L, D}},
                                    {"ids", ids, DType::kInt32, {N, K}},
                                    {"dx", dx, kFloat, {N, D}}});
  check_ids(kOp, "ids", ids, L, -1);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::gather_dot_input_gradient(context, dz, w, ids, dx);
  }
  cpu::gather_dot_input_gradient(context, dz, w, ids, dx);
}

RowGradient gather_dot_weight_gradient(const Context& context, ConstTensorView dz,
                                       ConstTensorView x, ConstTensorView ids, int64_t L) {
  constexpr std::string_view kOp = "gather dot, weight gradient";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"ids", ids, DType::kInt32, {Operand::kAny, Operand::kAny}}});
  const int64_t N = ids.shape()[0];
  const int64_t K = ids.width();
  const Device device = check(kOp, {{"dz", dz, kFloat, {N, K}},
                                    {"x", x, kFloat, {N, Operand::kAny}},
                                    {"ids", ids, DType::kInt32, {N, K}}});
  check_ids(kOp, "ids", ids, L, -1);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::gather_dot_weight_gradient(context, dz, x, ids, L);
  }
  return cpu::gather_dot_weight_gradient(context, dz, x, ids, L);
}

}  // namespace elias
