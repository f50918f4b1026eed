#include "ops/lookup/row_gradient.h"

#include <algorithm>
#include <numeric>

#include "ops/check.h"
#include "ops/lookup/weighted_rows.h"

namespace elias {

namespace cpu {  // row_gradient_cpu.cc
decltype(sum_row_weights) sum_row_weights;
}  // namespace cpu
namespace cuda {  // row_gradient_cuda.cu
decltype(expand_rows) expand_rows;
decltype(sum_row_weights) sum_row_weights;
}  // namespace cuda

RowGradient gradient_of_rows(std::span<const int32_t> rows, ConstTensorView values) {
  const auto R = static_cast<int64_t>(rows.size());
  check("gradient of rows", {{"values", values, DType::kFloat32, {R, Operand::kAny}}});
  RowGradient gradient{.rows = Tensor({R}, DType::kInt32),
                       .offsets = Tensor({R + 1}, DType::kInt32),
                       .points = Tensor({R}, DType::kInt32),
                       .weights = Tensor({R}, DType::kFloat32),
                       .source = values};
  const auto offsets = gradient.offsets.span<int32_t>(), points = gradient.points.span<int32_t>();
  std::ranges::copy(rows, gradient.rows.span<int32_t>().begin());
  std::iota(offsets.begin(), offsets.end(), 0);
  std::iota(points.begin(), points.end(), 0);
  std::ranges::fill(gradient.weights.span<float>(), 1.0F);
  return gradient;
}

void expand_rows(const Context& context, const RowGradient& gradient, TensorView values) {
  constexpr std::string_view kOp = "expand rows";
  constexpr DType kFloat = DType::kFloat32;
  const DType source = float_type_of(gradient.source);
  check(kOp, {{"source", gradient.source, source, {Operand::kAny, Operand::kAny}},
              {"points", gradient.points, DType::kInt32, {Operand::kAny}},
              {"rows", gradient.rows, DType::kInt32, {Operand::kAny}}});
  const int64_t R = gradient.size();
  const int64_t n = gradient.points.shape()[0];
  const Device device =
      check(kOp, {{"source", gradient.source, source, {Operand::kAny, Operand::kAny}},
                  {"offsets", gradient.offsets, DType::kInt32, {R + 1}},
                  {"weights", gradient.weights, kFloat, {n}},
                  {"values", values, kFloat, {R, gradient.source.width()}}});
  check_offsets(kOp, "offsets", gradient.offsets, n);
  check_ids(kOp, "points", gradient.points, gradient.source.shape()[0]);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::expand_rows(context, gradient, values);
  }
  cpu::sum_weighted_rows(context, gradient.offsets, gradient.points, gradient.weights,
                         gradient.source, values);
}

void sum_row_weights(const Context& context, const RowGradient& gradient, TensorView sums) {
  constexpr std::string_view kOp = "sum row weights";
  check(kOp, {{"weights", gradient.weights, DType::kFloat32, {Operand::kAny}},
              {"rows", gradient.rows, DType::kInt32, {Operand::kAny}}});
  const int64_t R = gradient.size();
  const Device device = check(kOp, {{"weights", gradient.weights, DType::kFloat32, {Operand::kAny}},
                                    {"offsets", gradient.offsets, DType::kInt32, {R + 1}},
                                    {"sums", sums, DType::kFloat32, {R}}});
  check_offsets(kOp, "offsets", gradient.offsets, gradient.weights.shape()[0]);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::sum_row_weights(context, gradient, sums);
  }
  cpu::sum_row_weights(context, gradient, sums);
}

}  // namespace elias
