// Writes zip files as numpy reads them. Always in the ZIP64 form, so that no size is too large.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "data/io/byte_sink.h"

namespace elias {

/// Writes members one after the other, deflated.
class ZipWriter {
 public:
  /// `sink` must outlive the writer; committing it is the caller's.
  explicit ZipWriter(ByteSink& sink);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  void begin(const std::string& member);
  void write(const void* data, size_t size);
  void end();
  /// Writes the directory. Call it once, after the last member.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace elias
