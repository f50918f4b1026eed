#include "ops/lookup/top_k.h"

#include <limits>

#include "ops/check.h"

namespace elias {

namespace cpu {  // top_k_cpu.cc
decltype(top_k) top_k;
}  // namespace cpu
namespace cuda {  // top_k_cuda.cu
decltype(top_k) top_k;
}  // namespace cuda

void top_k(const Context& context, ConstTensorView scores, TensorView values, TensorView ids) {
  constexpr std::string_view kOp = "top k";
  constexpr DType kFloat = DType::kFloat32;
  check(kOp, {{"scores", scores, kFloat, {Operand::kAny, Operand::kAny}},
              {"values", values, kFloat, {Operand::kAny, Operand::kAny}}});
  const int64_t N = scores.shape()[0];
  const int64_t L = scores.width();
  const int64_t k = values.width();
  const Device device = check(kOp, {{"scores", scores, kFloat, {N, L}},
                                    {"values", values, kFloat, {N, k}},
                                    {"ids", ids, DType::kInt32, {N, k}}});
  if (k < 1 || k > L) throw InputError("{}: k is {}, but must be in [1, {}]", kOp, k, L);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (L > kMost) throw InputError("{}: scores have {} columns, but may have {}", kOp, L, kMost);
  if constexpr (kCudaBuilt) {
    if (device == Device::kCuda) return cuda::top_k(context, scores, values, ids);
  }
  cpu::top_k(context, scores, values, ids);
}

}  // namespace elias
