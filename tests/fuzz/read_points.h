// What every fuzz target of a points format does: read the bytes in that format, in blocks so small
// that most inputs take several, and hold what comes out to the promises of a PointBatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/errors.h"
#include "data/point_reader.h"

namespace elias {

inline std::string_view as_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void check_matrix(const Csr& matrix) {
  ELIAS_ASSERT(matrix.columns.size() == matrix.offsets.back());
  ELIAS_ASSERT(matrix.values.size() == matrix.columns.size());
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const CsrRow row = matrix.row(i);
    for (size_t j = 0; j < row.size(); ++j) {
      ELIAS_ASSERT(row.columns[j] < matrix.cols);
      ELIAS_ASSERT(j == 0 || row.columns[j - 1] < row.columns[j]);
    }
  }
}

/// An InputError is the right answer to a file that is not right; anything else is a finding.
inline void fuzz_points(std::string_view bytes, std::optional<Format> format) {
  static ThreadPool pool(1);
  ReadOptions options;
  options.format = format;
  options.block_bytes = 16;
  try {
    LabelSpace labels;
    const auto reader = open_points(bytes_in_memory(bytes, "fuzz"), options, labels, pool);
    PointBatch batch;
    while (reader->next(batch)) {
      ELIAS_ASSERT(!reader->info().has_text || batch.texts.rows() == batch.rows());
      ELIAS_ASSERT(!reader->info().has_features || batch.features.rows() == batch.rows());
      ELIAS_ASSERT(batch.labels.cols == labels.size());
      check_matrix(batch.features);
      check_matrix(batch.labels);
    }
  } catch (const InputError&) {
  }
}

}  // namespace elias
