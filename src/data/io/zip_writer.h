// Writes zip files as numpy reads them. Always in the ZIP64 form, so that no size is too large.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "data/io/byte_sink.h"

namespace elias {

/// Writes members one after the other, deflated.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  void begin(const std::string& member);
  void write(const void* data, size_t size);
  void end();
  /// Writes the directory and puts the file in place.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace elias
