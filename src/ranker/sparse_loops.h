// A sparse row against a dense vector, by vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/isa.h"

namespace elias {

/// Columns are below 2^31 and differ within a row.
struct SparseLoops {
  /// The sum of values[i] * dense[columns[i]].
  float (*dot)(const uint32_t* columns, const float* values, size_t n, const float* dense);
  /// dense[columns[i]] += factor * values[i].
  void (*add)(const uint32_t* columns, const float* values, size_t n, float factor, float* dense);
};

SparseLoops sparse_loops(Isa isa);

}  // namespace elias
