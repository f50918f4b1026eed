#include "ops/cpu/streaming.h"

#include <unistd.h>

#include <algorithm>

#include "base/aligned_buffer.h"

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace elias::cpu {
namespace {

int64_t last_level_cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  if (const int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE); bytes > 0) return bytes;
#endif
  return 32 << 20;
}

bool aligned(const TensorView& view) {
  const auto row_bytes = static_cast<size_t>(view.stride()) * size_of(view.dtype());
  return (reinterpret_cast<uintptr_t>(view.bytes()) % kAlignment == 0) &&
         (row_bytes % kAlignment == 0 || view.rows() == 1);
}

}  // namespace

int64_t& streaming_threshold() {
  static int64_t bytes = last_level_cache_bytes();
  return bytes;
}

bool streams(const TensorView& result, std::initializer_list<ConstTensorView> operands) {
  const auto bytes = result.shape().elements() * static_cast<int64_t>(size_of(result.dtype()));
  return bytes > streaming_threshold() && aligned(result) &&
         std::none_of(operands.begin(), operands.end(), [&](const ConstTensorView& operand) {
           return operand.bytes() == result.bytes();
         });
}

void finish_streaming() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

}  // namespace elias::cpu
