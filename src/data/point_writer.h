// Writing points in any of the formats that open_points reads.
#pragma once

#include <memory>
#include <string>

#include "data/format.h"
#include "data/label_space.h"
#include "data/point_reader.h"

namespace elias {

class PointWriter {
 public:
  virtual ~PointWriter() = default;
  virtual void write(const PointBatch& batch) = 0;
  /// Finishes the file and puts it in place; without this call nothing appears at the path.
  virtual void commit() = 0;
};

/// Opens `path` for writing: a file, "-" for standard output, a pair "X,Y" for matrices; .gz
/// compresses. Labels are written by name where `labels` has names and the format holds them.
/// Throws InputError if `format` cannot hold such points (text into a sparse matrix, say).
std::unique_ptr<PointWriter> create_points(const std::string& path, Format format,
                                           const SourceInfo& source, const LabelSpace& labels);

}  // namespace elias
