#include "ops/rows/softmax_clamp.h"

#include <cmath>

#include "ops/check.h"

namespace elias {

namespace cpu {  // softmax_clamp_cpu.cc
decltype(softmax_clamp) softmax_clamp;
decltype(softmax_clamp_backward) softmax_clamp_backward;
}  // namespace cpu
namespace cuda {  // softmax_clamp_cuda.cu
decltype(softmax_clamp) softmax_clamp;
decltype(softmax_clamp_backward) softmax_clamp_backward;
}  // namespace cuda

namespace {

void check_scale(std::string_view op, float scale) {
  if (!(scale > 0) || !std::isfinite(scale)) {
    throw InputError("{}: scale is {}, but must be finite and positive", op, scale);
  }
}

}  // namespace

void softmax_clamp(const Context& context, ConstTensorView z, float scale, TensorView s,
                   TensorView log_sum) {
  constexpr std::string_view kOp = "softmax clamp";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"z", z, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = z.shape()[0];
  const int64_t C = z.width();
  const Device device = check(
      kOp, {{"z", z, kFloat, {N, C}}, {"s", s, kFloat, {N, C}}, {"log_sum", log_sum, kFloat, {N}}});
  check_scale(kOp, scale);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::softmax_clamp(context, z, scale, s, log_sum);
  }
  cpu::softmax_clamp(context, z, scale, s, log_sum);
}

void softmax_clamp_backward(const Context& context, ConstTensorView ds, ConstTensorView z,
                            ConstTensorView log_sum, float scale, TensorView dz) {
  constexpr std::string_view kOp = "softmax clamp, backward";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"z", z, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = z.shape()[0];
  const int64_t C = z.width();
  const Device device = check(kOp, {{"ds", ds, kFloat, {N, C}},
                                    {"z", z, kFloat, {N, C}},
                                    {"log_sum", log_sum, kFloat, {N}},
                                    {"dz", dz, kFloat, {N, C}}});
  check_scale(kOp, scale);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) {
      return cuda::softmax_clamp_backward(context, ds, z, log_sum, scale, dz);
    }
  }
  cpu::softmax_clamp_backward(context, ds, z, log_sum, scale, dz);
}

}  // namespace elias
