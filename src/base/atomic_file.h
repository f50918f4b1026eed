// Writing a file so that its path never shows half of it.
//
// Bytes go to a temporary file in the same folder. commit() makes them durable (fsync) and renames
// the file into place; without it, the destructor removes the temporary file and whatever stood at
// the path before stands there still.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace elias {

class AtomicFile {
 public:
  /// Throws InputError if the folder is missing or cannot be written to.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws InputError if the disk is full.
  void write(std::string_view bytes);
  void commit();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
};

/// Writes `bytes` to `path` in one atomic step.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace elias
