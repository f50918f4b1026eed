// Bytes that wait on disk: a temporary file that has no name, and goes with the object or the
// process.
#pragma once

#include <cstdint>
#include <cstdio>
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
  uint64_t size() const { return size_; }

  /// To its beginning, after the last write.
  void rewind();
  /// The next bytes, at most `most`; empty at the end.
  std::string read(size_t most);

 private:
  std::FILE* file_;
  uint64_t size_ = 0;
};

}  // namespace elias::server
