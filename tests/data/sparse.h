// Small sparse matrices for tests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "data/csr.h"

namespace elias {

using SparseRow = std::vector<std::pair<uint32_t, float>>;

inline Csr csr_of(uint64_t cols, const std::vector<SparseRow>& rows) {
  Csr matrix;
  matrix.cols = cols;
  for (const SparseRow& row : rows) {
    for (const auto& [column, value] : row) {
      matrix.columns.push_back(column);
      matrix.values.push_back(value);
    }
    matrix.finish_row(Csr::Repeats::kMaximum);
  }
  return matrix;
}

/// Up to `most` entries a row, their values one of 1 / steps, 2 / steps ... 1: with few steps there
/// are many ties. Low columns are more frequent than high ones.
inline Csr random_csr(size_t rows, uint64_t cols, size_t most, uint64_t steps, uint64_t seed) {
  Csr matrix;
  matrix.cols = cols;
  RandomSequence random(seed, 3);
  for (size_t i = 0; i < rows; ++i) {
    for (uint64_t entries = random.below(most + 1); entries > 0; --entries) {
      const double place = random.uniform();
      matrix.columns.push_back(static_cast<uint32_t>(place * place * static_cast<double>(cols)));
      matrix.values.push_back(static_cast<float>(1 + random.below(steps)) /
                              static_cast<float>(steps));
    }
    matrix.finish_row(Csr::Repeats::kMaximum);
  }
  return matrix;
}

}  // namespace elias
