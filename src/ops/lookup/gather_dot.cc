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

namespace {

constexpr DType kFloat = DType::kFloat32;

// Points [N, D] and their scores [N, K] against rows of w [L, D].
Device check_shortlist(std::string_view op, const NamedView& points, ConstTensorView w,
                       ConstTensorView ids, const NamedView& scores) {
  const DType w_type = float_type_of(w);
  check(op, {{"w", w, w_type, {Operand::kAny, Operand::kAny}},
             {"ids", ids, DType::kInt32, {Operand::kAny, Operand::kAny}}});
  const int64_t N = ids.shape()[0];
  const int64_t K = ids.width();
  const Device device = check(op, {{points.name, points.view, kFloat, {N, w.width()}},
                                   {"w", w, w_type, {Operand::kAny, Operand::kAny}},
                                   {"ids", ids, DType::kInt32, {N, K}},
                                   {scores.name, scores.view, kFloat, {N, K}}});
  check_ids(op, "ids", ids, w.shape()[0], -1);
  return device;
}

}  // namespace

void gather_dot(const Context& context, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
                ConstTensorView ids, TensorView z) {
  constexpr std::string_view kOp = "gather dot";
  const Device device = check_shortlist(kOp, {"x", x}, w, ids, {"z", z});
  if (bias) {
    check(kOp, {{"w", w, float_type_of(w), {Operand::kAny, Operand::kAny}},
                {"bias", bias, kFloat, {w.shape()[0]}}});
  }
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::gather_dot(context, x, w, bias, ids, z);
  }
  cpu::gather_dot(context, x, w, bias, ids, z);
}

void gather_dot_input_gradient(const Context& context, ConstTensorView dz, ConstTensorView w,
                               ConstTensorView ids, TensorView dx) {
  const Device device =
      check_shortlist("gather dot, input gradient", {"dx", dx}, w, ids, {"dz", dz});
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::gather_dot_input_gradient(context, dz, w, ids, dx);
  }
  cpu::gather_dot_input_gradient(context, dz, w, ids, dx);
}

RowGradient gather_dot_weight_gradient(const Context& context, ConstTensorView dz,
                                       ConstTensorView x, ConstTensorView ids, int64_t L) {
  constexpr std::string_view kOp = "gather dot, weight gradient";
  check(kOp, {{"ids", ids, DType::kInt32, {Operand::kAny, Operand::kAny}}});
  const int64_t N = ids.shape()[0];
  const int64_t K = ids.width();
  const Device device = check(kOp, {{"dz", dz, kFloat, {N, K}},
                                    {"x", x, float_type_of(x), {N, Operand::kAny}},
                                    {"ids", ids, DType::kInt32, {N, K}}});
  check_ids(kOp, "ids", ids, L, -1);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::gather_dot_weight_gradient(context, dz, x, ids, L);
  }
  return cpu::gather_dot_weight_gradient(context, dz, x, ids, L);
}

}  // namespace elias
