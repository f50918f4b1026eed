#include "ops/lookup/key_groups.h"

#include <limits>

#include "ops/check.h"
#include "ops/lookup/weighted_rows.h"

namespace elias {

namespace cpu {  // key_groups_cpu.cc
decltype(group_by_key) group_by_key;
decltype(max_by_key) max_by_key;
}  // namespace cpu
namespace cuda {  // key_groups_cuda.cu
decltype(group_by_key) group_by_key;
decltype(sum_by_key) sum_by_key;
}  // namespace cuda

namespace {

// Groups of keys that were not those of `values` would send a reduction beyond them. Positions rise
// within a group, so its last one tells.
void check_positions(std::string_view op, const KeyGroups& groups, ConstTensorView values) {
  if (values.device() != Device::kCpu) return;
  const int64_t n = values.shape()[0];
  const auto offsets = groups.offsets.span<int32_t>();
  const auto positions = groups.positions.span<int32_t>();
  for (int64_t r = 0; r < groups.size(); ++r) {
    const int32_t last = positions[offsets[r + 1] - 1];
    if (last >= n) {
      throw InputError("{}: the groups hold position {}, but values are {}", op, last,
                       values.shape().text());
    }
  }
}

}  // namespace

KeyGroups group_by_key(const Context& context, ConstTensorView keys, int64_t bound) {
  constexpr std::string_view kOp = "group by key";
  const ConstTensorView flat = keys ? keys.reshaped({keys.shape().elements()}) : keys;
  const Device device = check(kOp, {{"keys", flat, DType::kInt32, {Operand::kAny}}});
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (flat.width() > kMost) {
    throw InputError("{}: keys are {}, but must be at most {}", kOp, flat.width(), kMost);
  }
  if (bound < 0 || bound > kMost + 1) {
    throw InputError("{}: bound is {}, but must be in [0, {}]", kOp, bound, kMost + 1);
  }
  check_ids(kOp, "keys", keys, bound, -1);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::group_by_key(context, flat, bound);
  }
  return cpu::group_by_key(context, flat, bound);
}

void sum_by_key(const Context& context, const KeyGroups& groups, ConstTensorView values,
                TensorView sums) {
  constexpr std::string_view kOp = "sum by key";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"values", values, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t D = values.width();
  const Device device = check(kOp, {{"values", values, kFloat, {Operand::kAny, D}},
                                    {"positions", groups.positions, DType::kInt32, {Operand::kAny}},
                                    {"sums", sums, kFloat, {groups.size(), D}}});
  check_positions(kOp, groups, values);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::sum_by_key(context, groups, values, sums);
  }
  cpu::sum_weighted_rows(context, groups.offsets, groups.positions, {}, values, sums);
}

void max_by_key(const Context& context, const KeyGroups& groups, ConstTensorView values,
                TensorView maxima, TensorView positions) {
  constexpr std::string_view kOp = "max by key";
  const int64_t R = groups.size();
  const Device device =
      check(kOp, {{"values", values, DType::kFloat32, {Operand::kAny}},
                  {"groups' positions", groups.positions, DType::kInt32, {Operand::kAny}},
                  {"maxima", maxima, DType::kFloat32, {R}},
                  {"positions", positions, DType::kInt32, {R}}});
  require_cpu(kOp, device);
  check_positions(kOp, groups, values);
  cpu::max_by_key(context, groups, values, maxima, positions);
}

}  // namespace elias
