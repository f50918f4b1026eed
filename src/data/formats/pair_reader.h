// Points in two files: X (features as a matrix, or texts a line each) and Y (labels as a matrix).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "data/formats/text_points.h"
#include "data/point_reader.h"

namespace elias {

/// The two paths of "X,Y"; nothing if there is no comma or a file has that very name.
std::optional<std::pair<std::string, std::string>> split_pair(const std::string& path);

/// The X of a pair alone: points without labels. `lines` stands at the start of the file at `path`.
std::unique_ptr<PointReader> open_x(std::unique_ptr<LineReader> lines, const std::string& path,
                                    const ReadOptions& options, LabelSpace& labels,
                                    ThreadPool& pool);

std::unique_ptr<PointReader> open_pair(const std::string& x_path, const std::string& y_path,
                                       const ReadOptions& options, LabelSpace& labels,
                                       ThreadPool& pool);

/// A matrix file, text or npz, as a whole. Labels are held to options.values and to `labels`.
/// `lines` stands at the start of the file at `path`.
Csr read_matrix(std::unique_ptr<LineReader> lines, const std::string& path, MatrixRole role,
                const ReadOptions& options, LabelSpace& labels, ThreadPool& pool);

}  // namespace elias
