// Where bytes go: a file (atomically, see base/atomic_file.h) or standard output; .gz compresses.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace elias {

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  /// Throws InputError if the disk is full or the reader of standard output has gone.
  virtual void write(std::string_view bytes) = 0;
  /// Lets a reader of standard output have what was written so far.
  virtual void flush() {}
  /// Ends the output and puts it in place. Without it a file never appears.
  virtual void commit() = 0;
};

/// `path` is a file, gzip if it ends in .gz, or "-" for standard output.
std::unique_ptr<ByteSink> create_bytes(const std::string& path);

}  // namespace elias
