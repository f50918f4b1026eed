// How texts are cut into pieces of work: by their bytes, so that long texts do not pile up in one.
#pragma once

#include <cstddef>
#include <vector>

#include "data/text_rows.h"

namespace elias {

/// Bounds of chunks of at most `chunk_bytes`, or of one text: chunk i holds the rows [bounds[i],
/// bounds[i + 1]).
inline std::vector<size_t> text_chunks(const TextRows& texts, size_t chunk_bytes) {
  constexpr size_t kChunkRows = 1 << 14;  // empty texts are work, too
  std::vector<size_t> bounds = {0};
  for (size_t i = 0; i < texts.rows(); ++i) {
    const size_t begin = bounds.back();
    if (i > begin &&
        (texts.offsets[i + 1] - texts.offsets[begin] > chunk_bytes || i - begin >= kChunkRows)) {
      bounds.push_back(i);
    }
  }
  if (texts.rows() > 0) bounds.push_back(texts.rows());
  return bounds;
}

}  // namespace elias
