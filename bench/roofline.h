// What the machine can do at best: what the operators' speeds are held against.
//
// The loops here do nothing else than load the unit in question, so that a ratio to them says how
// much an operator leaves on the table, whatever else the machine does. They take AVX2 at least.
#pragma once

#include <functional>
#include <span>

#include "base/thread_pool.h"
#include "ops/isa.h"

namespace elias::bench {

/// Wall time of one call.
double seconds_of(const std::function<void()>& work);

/// Runs fused multiply-adds on every thread of the pool, in registers, and returns how many
/// floating-point operations these were. kAvx2 and kAvx512 work in float32, kAvx512Bf16 on vectors
/// of bf16, kAmx on tiles of it that stay in the L1 cache. The processor must have `isa`.
double multiply_add(ThreadPool& pool, Isa isa);

/// One pass over memory: the largest value. The size must be a multiple of 64, as for copy.
float largest(ThreadPool& pool, std::span<const float> values);

/// One copy of memory, stored past the caches, which is the fastest. Sizes must be equal, and `to`
/// must be aligned to 64 bytes.
void copy(ThreadPool& pool, std::span<const float> from, std::span<float> to);

}  // namespace elias::bench
