// Opening a text file whose format is known: its header, how it names labels, the right parser.
#pragma once

#include <memory>

#include "data/io/line_reader.h"
#include "data/point_reader.h"

namespace elias {

/// What the columns of a matrix file stand for.
enum class MatrixRole { kFeatures, kLabels };

/// `role` matters to Format::kMatrix alone.
std::unique_ptr<PointReader> open_text(std::unique_ptr<LineReader> lines, Format format,
                                       MatrixRole role, const ReadOptions& options,
                                       LabelSpace& labels, ThreadPool& pool);

/// Throws InputError if there is nothing in `source`, unless labels are optional: jobs of that kind
/// are filters, which turn no lines into no lines.
std::unique_ptr<LineReader> open_non_empty(std::unique_ptr<ByteSource> source,
                                           const ReadOptions& options);

}  // namespace elias
