// Dropout on the CPU: the random words of some hundred values at a time are made in cache, then
// compared with the rate. Value i of x, counted row by row, is decided by word i % 4 of
// philox({i / 4, stream}, seed): dropped if below rate * 2^32.
#include <algorithm>

#include "ops/cpu/runs.h"
#include "ops/cpu/streaming.h"
#include "ops/rows/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/dropout_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/cpu/philox-inl.h"
#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// `count` values, of which the first is number `first` of its tensor.
void dropout_run(const float* x, uint64_t first, size_t count, float rate, DropoutKey key,
                 bool streaming, float* y) {
  constexpr size_t kValues = 256;
  const Lanes d;
  const hn::RebindToUnsigned<Lanes> words_of;
  const auto threshold = hn::Set(words_of, static_cast<uint32_t>(double{rate} * 0x1p32));
  const auto scale = hn::Set(d, 1 / (1 - rate));
  HWY_ALIGN uint32_t words[kValues + 4 + kSparePhiloxWords];
  for (size_t begin = 0; begin < count; begin += kValues) {
    const size_t values = std::min(kValues, count - begin);
    const uint64_t index = first + begin;
    const uint64_t block = index / 4;
    // What comes after the next is fetched while words are made.
    for (size_t i = 0; i < kValues; i += 16) hwy::Prefetch(x + begin + 2 * kValues + i);
    philox_words(key.seed, key.stream, block, (index + values + 3) / 4 - block, words);
    const uint32_t* own = words + index % 4;
    for_lanes(values, [&](size_t i, size_t n) {
      const auto dropped = hn::Lt(hn::LoadU(words_of, own + i), threshold);
      const auto value = hn::Mul(load(d, x + begin + i, n), scale);
      store(hn::IfThenZeroElse(hn::RebindMask(d, dropped), value), d, y + begin + i, n, streaming);
    });
  }
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void dropout(const Context& context, ConstTensorView x, float rate, DropoutKey key, TensorView y) {
  const auto kernel = ELIAS_BY_ISA(dropout_run)(context.isa());
  const size_t width = x.width();
  const bool streaming = streams(y, {x});
  for_runs(context.pool(), {x, y}, [&](const Run& run) {
    kernel(run.of<float>(x), run.row * width + run.column, run.count, rate, key, streaming,
           run.of<float>(y));
    if (streaming) finish_streaming();
  });
}

}  // namespace elias::cpu
#endif
