// Where bytes come from: a file, standard input or memory; gzip is recognised and undone.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace elias {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Reads up to `capacity` bytes; 0 means the end. Throws InputError on a read error or bad gzip.
  virtual size_t read(char* into, size_t capacity) = 0;

  /// For messages: the path, or "standard input".
  const std::string& name() const { return name_; }

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

/// Opens `path`, or standard input if it is "-". Throws InputError if it is missing or a directory.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// Reads from `bytes`, which must outlive the source. Tests and fuzzers need no disk.
std::unique_ptr<ByteSource> bytes_in_memory(std::string_view bytes, std::string name);

/// Everything that is left in `source`.
std::string read_all(ByteSource& source);

}  // namespace elias
