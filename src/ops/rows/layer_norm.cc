#include "ops/rows/layer_norm.h"

#include <cmath>

#include "ops/check.h"

namespace elias {

namespace cpu {  // layer_norm_cpu.cc
decltype(layer_norm) layer_norm;
decltype(layer_norm_backward) layer_norm_backward;
}  // namespace cpu
namespace cuda {  // layer_norm_cuda.cu
decltype(layer_norm) layer_norm;
decltype(layer_norm_backward) layer_norm_backward;
}  // namespace cuda

void layer_norm(const Context& context, ConstTensorView x, ConstTensorView gain,
                ConstTensorView bias, float epsilon, TensorView y, LayerNormSaved saved) {
  constexpr std::string_view kOp = "layer norm";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"x", x, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = x.rows();
  const int64_t D = x.width();
  const Device device = check(kOp, {{"x", x, kFloat, {N, D}},
                                    {"gain", gain, kFloat, {D}},
                                    {"bias", bias, kFloat, {D}},
                                    {"y", y, kFloat, {N, D}},
                                    {"mean", saved.mean, kFloat, {N}},
                                    {"inverse deviation", saved.inverse_deviation, kFloat, {N}}});
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    throw InputError("{}: epsilon is {}, but must be finite and positive", kOp, epsilon);
  }
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::layer_norm(context, x, gain, bias, epsilon, y, saved);
  }
  cpu::layer_norm(context, x, gain, bias, epsilon, y, saved);
}

void layer_norm_backward(const Context& context, ConstTensorView dy, ConstTensorView x,
                         ConstTensorView gain, LayerNormSaved saved, TensorView dx,
                         TensorView dgain, TensorView dbias) {
  constexpr std::string_view kOp = "layer norm, backward";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"x", x, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = x.rows();
  const int64_t D = x.width();
  const Device device = check(kOp, {{"dy", dy, kFloat, {N, D}},
                                    {"x", x, kFloat, {N, D}},
                                    {"gain", gain, kFloat, {D}},
                                    {"mean", saved.mean, kFloat, {N}},
                                    {"inverse deviation", saved.inverse_deviation, kFloat, {N}},
                                    {"dx", dx, kFloat, {N, D}},
                                    {"dgain", dgain, kFloat, {D}},
                                    {"dbias", dbias, kFloat, {D}}});
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) {
      return cuda::layer_norm_backward(context, dy, x, gain, saved, dx, dgain, dbias);
    }
  }
  cpu::layer_norm_backward(context, dy, x, gain, saved, dx, dgain, dbias);
}

}  // namespace elias
