#include "ops/product/linear.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // linear_cpu.cc
decltype(pack_weights) pack_weights;
decltype(linear) linear;
decltype(linear_input_gradient) linear_input_gradient;
decltype(add_linear_input_gradient) add_linear_input_gradient;
decltype(linear_input_gradient_through_gelu) linear_input_gradient_through_gelu;
decltype(linear_weight_gradient) linear_weight_gradient;
decltype(linear_bias_gradient) linear_bias_gradient;
}  // namespace cpu
namespace cuda {  // linear_cuda.cu
decltype(pack_weights) pack_weights;
decltype(linear) linear;
decltype(linear_input_gradient) linear_input_gradient;
decltype(add_linear_input_gradient) add_linear_input_gradient;
decltype(linear_weight_gradient) linear_weight_gradient;
decltype(linear_bias_gradient) linear_bias_gradient;
}  // namespace cuda

namespace {

constexpr DType kFloat = DType::kFloat32;
constexpr int64_t kAny = Operand::kAny;

// The type that rows given as `view` must have: float32, or what they are if bf16 is allowed too.
DType rows_type(const ConstTensorView& view, Precision precision) {
  const bool rounded = precision == Precision::kBFloat16 && view.dtype() == DType::kBFloat16;
  return rounded ? DType::kBFloat16 : kFloat;
}

// Panels differ between instruction sets, and between the two uses.
void check_packing(std::string_view op, const Context& context, const PackedWeights& w,
                   PackedFor use, Device device) {
  if (!w.data()) throw InputError("{}: the weights are not packed", op);
  if (w.use() != use) {
    throw InputError("{}: the weights are packed for the {}", op,
                     w.use() == PackedFor::kForward ? "forward pass" : "input gradient");
  }
  if (w.device() != device) {
    throw InputError("{}: the weights are on {}, but the rows are on {}", op, name_of(w.device()),
                     name_of(device));
  }
  if (device == Device::kCpu && w.isa() != context.isa()) {
    throw InputError("{}: the weights are packed for {}, but the context is for {}", op,
                     name_of(w.isa()), name_of(context.isa()));
  }
}

Device check_input_gradient(std::string_view op, const Context& context, ConstTensorView dy,
                            const PackedWeights& w, ConstTensorView dx, DType dx_type) {
  const Operand rows{"dy", dy, rows_type(dy, w.precision()), {kAny, w.inner()}};
  const Device device = check(op, {rows});
  check_packing(op, context, w, PackedFor::kInputGradient, device);
  check(op, {rows, {"dx", dx, dx_type, {dy.rows(), w.outer()}}});
  return device;
}

}  // namespace

PackedWeights pack_weights(const Context& context, ConstTensorView w, PackedFor use,
                           Precision precision) {
  const Device device = check("packing weights", {{"w", w, kFloat, {kAny, kAny}}});
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::pack_weights(context, w, use, precision);
  }
  return cpu::pack_weights(context, w, use, precision);
}

void linear(const Context& context, ConstTensorView x, const PackedWeights& w, ConstTensorView bias,
            Activation activation, TensorView y, TensorView before) {
  constexpr std::string_view kOp = "linear";
  const Operand rows{"x", x, rows_type(x, w.precision()), {kAny, w.inner()}};
  const Device device = check(kOp, {rows});
  check_packing(kOp, context, w, PackedFor::kForward, device);
  check(kOp, {rows, {"y", y, rows_type(y, w.precision()), {x.rows(), w.outer()}}});
  if (bias) check(kOp, {rows, {"bias", bias, kFloat, {w.outer()}}});
  if (activation == Activation::kGelu) require_cpu("linear with GELU", device);
  if (before) {
    ELIAS_ASSERT(activation == Activation::kGelu);
    check(kOp, {rows, {"before", before, rows_type(before, w.precision()), {x.rows(), w.outer()}}});
  }
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::linear(context, x, w, bias, activation, y, before);
  }
  cpu::linear(context, x, w, bias, activation, y, before);
}

void linear_input_gradient(const Context& context, ConstTensorView dy, const PackedWeights& w,
                           TensorView dx) {
  const Device device = check_input_gradient("linear, input gradient", context, dy, w, dx,
                                             rows_type(dx, w.precision()));
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::linear_input_gradient(context, dy, w, dx);
  }
  cpu::linear_input_gradient(context, dy, w, dx);
}

void add_linear_input_gradient(const Context& context, ConstTensorView dy, const PackedWeights& w,
                               TensorView dx) {
  const Device device =
      check_input_gradient("linear, adding the input gradient", context, dy, w, dx, kFloat);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::add_linear_input_gradient(context, dy, w, dx);
  }
  cpu::add_linear_input_gradient(context, dy, w, dx);
}

void linear_input_gradient_through_gelu(const Context& context, ConstTensorView dy,
                                        const PackedWeights& w, ConstTensorView before,
                                        TensorView dbefore) {
  constexpr std::string_view kOp = "linear, input gradient through GELU";
  const Device device =
      check_input_gradient(kOp, context, dy, w, dbefore, rows_type(dbefore, w.precision()));
  check(kOp, {{"before", before, rows_type(before, w.precision()), {dy.rows(), w.outer()}}});
  require_cpu(kOp, device);
  cpu::linear_input_gradient_through_gelu(context, dy, w, before, dbefore);
}

void linear_weight_gradient(const Context& context, ConstTensorView dy, ConstTensorView x,
                            Precision precision, TensorView dw) {
  constexpr std::string_view kOp = "linear, weight gradient";
  const Operand rows{"dy", dy, rows_type(dy, precision), {kAny, kAny}};
  check(kOp, {rows, {"x", x, rows_type(x, precision), {kAny, kAny}}});
  const Device device = check(kOp, {rows,
                                    {"x", x, rows_type(x, precision), {dy.rows(), kAny}},
                                    {"dw", dw, kFloat, {dy.width(), x.width()}}});
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::linear_weight_gradient(context, dy, x, precision, dw);
  }
  cpu::linear_weight_gradient(context, dy, x, precision, dw);
}

void linear_bias_gradient(const Context& context, ConstTensorView dy, TensorView db) {
  constexpr std::string_view kOp = "linear, bias gradient";
  const Operand rows{"dy", dy, float_type_of(dy), {kAny, kAny}};
  check(kOp, {rows});
  const Device device = check(kOp, {rows, {"db", db, kFloat, {dy.width()}}});
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::linear_bias_gradient(context, dy, db);
  }
  cpu::linear_bias_gradient(context, dy, db);
}

}  // namespace elias
