// The labels of points, without the points: all that evaluation needs of truth and training data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "data/label_space.h"
#include "data/point_reader.h"

namespace elias {

struct LabelMatrix {
  Csr labels;                        // N x L
  std::optional<uint64_t> promised;  // L, where the file says so itself (npz, a header)
};

/// Reads the labels of a file of points (any format of open_points, also a pair X,Y), or a label
/// matrix on its own (npz, or text with the header "N L"). Texts and features are read past, not
/// kept. Throws InputError on malformed input.
LabelMatrix read_label_matrix(const std::string& path, const ReadOptions& options,
                              LabelSpace& labels, ThreadPool& pool);

}  // namespace elias
