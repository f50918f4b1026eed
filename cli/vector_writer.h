// Writing vectors of points: as a numpy array, or line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ops/tensor.h"

namespace elias::cli {

class VectorWriter {
 public:
  virtual ~VectorWriter() = default;
  /// Some rows [n, D].
  virtual void write(ConstTensorView rows) = 0;
  /// What was written can be read by whoever waits for it.
  virtual void flush() = 0;
  virtual void commit() = 0;
};

/// `format` "npy": an array [N, width] of float32, which needs a file; "jsonl": {"vector": [...]} a
/// line. Throws InputError if `path` cannot be written so.
std::unique_ptr<VectorWriter> create_vectors(const std::string& path, const std::string& format,
                                             int64_t width);

}  // namespace elias::cli
