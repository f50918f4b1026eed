#include "ranker/sparse_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ranker/sparse_loops.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

using Ids = hn::RebindToSigned<Lanes>;

// Of unsigned and signed columns below 2^31 the bits are the same.
auto columns_at(const uint32_t* columns) {
  return hn::LoadU(Ids(), reinterpret_cast<const int32_t*>(columns));
}

float dot(const uint32_t* columns, const float* values, size_t n, const float* dense) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  // Two sums, so that an addition need not wait for the one before.
  auto even = hn::Zero(d), odd = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, values + i), hn::GatherIndex(d, dense, columns_at(columns + i)),
                      even);
    odd = hn::MulAdd(hn::LoadU(d, values + i + lanes),
                     hn::GatherIndex(d, dense, columns_at(columns + i + lanes)), odd);
  }
  if (i + lanes <= n) {
    even = hn::MulAdd(hn::LoadU(d, values + i), hn::GatherIndex(d, dense, columns_at(columns + i)),
                      even);
    i += lanes;
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < n; ++i) sum += values[i] * dense[columns[i]];
  return sum;
}

void add(const uint32_t* columns, const float* values, size_t n, float factor, float* dense) {
  for (size_t i = 0; i < n; ++i) dense[columns[i]] += factor * values[i];
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias {

namespace cpu {

const auto kDot = ELIAS_BY_ISA(dot);
const auto kAdd = ELIAS_BY_ISA(add);

}  // namespace cpu

SparseLoops sparse_loops(Isa isa) { return {.dot = cpu::kDot(isa), .add = cpu::kAdd(isa)}; }

}  // namespace elias
#endif
