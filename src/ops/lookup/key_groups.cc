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

// Groups that are damaged, or of other keys, would send a reduction beyond `values`.
void check_groups(std::string_view op, const KeyGroups& groups, ConstTensorView values) {
  constexpr DType kInt = DType::kInt32;
  check(op, {{"groups' keys", groups.keys, kInt, {Operand::kAny}},
             {"groups' positions", groups.positions, kInt, {Operand::kAny}}});
  check(op, {{"groups' offsets", groups.offsets, kInt, {groups.size() + 1}}});
  check_offsets(op, "groups' offsets", groups.offsets, groups.positions.shape()[0]);
  check_ids(op, "groups' positions", groups.positions, values.shape()[0]);
}

}  // namespace

KeyGroups group_by_key(const Context& context, ConstTensorView keys, int64_t bound) {
  constexpr std::string_view kOp = "group by key";
  if (keys && !keys.contiguous()) {
    throw InputError("{}: keys are a view of {} that is not contiguous: copy it first", kOp,
                     keys.shape().text());
  }
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
  check_groups(kOp, groups, values);
  const int64_t D = values.width();
  const Device device = check(kOp, {{"values", values, kFloat, {Operand::kAny, D}},
                                    {"positions", groups.positions, DType::kInt32, {Operand::kAny}},
                                    {"sums", sums, kFloat, {groups.size(), D}}});
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::sum_by_key(context, groups, values, sums);
  }
  cpu::sum_weighted_rows(context, groups.offsets, groups.positions, {}, values, sums);
}

void max_by_key(const Context& context, const KeyGroups& groups, ConstTensorView values,
                TensorView maxima, TensorView positions) {
  constexpr std::string_view kOp = "max by key";
  check(kOp, {{"values", values, DType::kFloat32, {Operand::kAny}}});
  check_groups(kOp, groups, values);
  const int64_t R = groups.size();
  const Device device =
      check(kOp, {{"values", values, DType::kFloat32, {Operand::kAny}},
                  {"groups' positions", groups.positions, DType::kInt32, {Operand::kAny}},
                  {"maxima", maxima, DType::kFloat32, {R}},
                  {"positions", positions, DType::kInt32, {R}}});
  require_cpu(kOp, device);
  cpu::max_by_key(context, groups, values, maxima, positions);
}

}  // namespace elias
