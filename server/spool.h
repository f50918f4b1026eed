// Bytes that wait on disk: a temporary file that has no name, and goes with the object or the
// process.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace elias::server {

class Spool {
 public:
  /// Throws ApiError 503 if there is no room for one.
  Spool();
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void write(std::string_view bytes);

  /// To its beginning, after the last write.
  void rewind();
  /// The next bytes, at most `most`; empty at the end, none if the disk fails.
  std::optional<std::string> read(size_t most);

 private:
  std::FILE* file_;
};

}  // namespace elias::server
