// Points in two files: X (features as a matrix, or texts a line each) and Y (labels as a matrix).
#pragma once

#include <memory>
#include <string>

#include "data/formats/text_points.h"
#include "data/point_reader.h"

namespace elias {

std::unique_ptr<PointReader> open_pair(const std::string& x_path, const std::string& y_path,
                                       const ReadOptions& options, LabelSpace& labels,
                                       ThreadPool& pool);

/// A matrix file, text or npz, as a whole. Labels are held to options.values and to `labels`.
/// `lines` stands at the start of the file at `path`.
Csr read_matrix(std::unique_ptr<LineReader> lines, const std::string& path, MatrixRole role,
                const ReadOptions& options, LabelSpace& labels, ThreadPool& pool);

}  // namespace elias
