#include "ops/lookup/embedding_bag.h"

#include "ops/check.h"
#include "ops/lookup/weighted_rows.h"

namespace elias {

namespace cpu {  // embedding_bag_cpu.cc
decltype(embedding_bag_backward) embedding_bag_backward;
}  // namespace cpu
namespace cuda {  // embedding_bag_cuda.cu
decltype(embedding_bag) embedding_bag;
decltype(embedding_bag_backward) embedding_bag_backward;
}  // namespace cuda

namespace {

// Checks bags of N points with features below V against `beside`, the other operand named.
Device check_bags(std::string_view op, const Bags& bags, std::string_view name,
                  ConstTensorView beside, int64_t N, int64_t V) {
  check(op, {{"ids", bags.ids, DType::kInt32, {Operand::kAny}}});
  const int64_t n = bags.ids.width();
  const Device device = check(op, {{name, beside, DType::kFloat32, {Operand::kAny, Operand::kAny}},
                                   {"offsets", bags.offsets, DType::kInt32, {N + 1}},
                                   {"ids", bags.ids, DType::kInt32, {n}},
                                   {"weights", bags.weights, DType::kFloat32, {n}}});
  check_offsets(op, "offsets", bags.offsets, n);
  check_ids(op, "ids", bags.ids, V);
  return device;
}

}  // namespace

void embedding_bag(const Context& context, const Bags& bags, ConstTensorView table, TensorView y) {
  constexpr std::string_view kOp = "embedding bag";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"table", table, kFloat, {Operand::kAny, Operand::kAny}},
              {"y", y, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = y.shape()[0];
  check(kOp, {{"table", table, kFloat, {Operand::kAny, Operand::kAny}},
              {"y", y, kFloat, {N, table.width()}}});
  const Device device = check_bags(kOp, bags, "table", table, N, table.shape()[0]);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::embedding_bag(context, bags, table, y);
  }
  cpu::sum_weighted_rows(context, bags.offsets, bags.ids, bags.weights, table, y);
}

RowGradient embedding_bag_backward(const Context& context, const Bags& bags, ConstTensorView dy,
                                   int64_t V) {
  constexpr std::string_view kOp = "embedding bag, backward";
  check(kOp, {{"dy", dy, DType::kFloat32, {Operand::kAny, Operand::kAny}}});
  const Device device = check_bags(kOp, bags, "dy", dy, dy.shape()[0], V);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::embedding_bag_backward(context, bags, dy, V);
  }
  return cpu::embedding_bag_backward(context, bags, dy, V);
}

}  // namespace elias
