// Writing a file so that its path never shows half of it.
//
// Bytes go to a temporary file in the same folder. commit() makes them durable (fsync) and renames
// the file into place; without it, the destructor removes the temporary file and whatever stood at
// the path before stands there still. A path that leads to something else than a file (a pipe, a
// device) is written directly; a symbolic link stays one, and the file it leads to is replaced.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

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
  /// Writes over the first bytes of what was written. Only of a file that is replaceable.
  void overwrite_start(std::string_view bytes);
  void commit();

  /// Else the path leads to a pipe or a device, to which bytes go as they come.
  bool is_replaceable() const { return !temporary_.empty(); }
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail_write() const;

  std::string path_;       // as given, for messages
  std::string target_;     // where the file will be: the path with links followed
  std::string temporary_;  // empty if the target is written directly
  std::FILE* file_ = nullptr;
};

/// Writes `bytes` to `path` in one atomic step.
void write_file(const std::string& path, std::string_view bytes);

/// Makes a rename to `path` durable, which it is once the folder that holds the name is.
void sync_folder_of(const std::string& path);

/// While it lives, `paths` are temporary too: files, and folders that are empty without them.
class TemporaryPaths {
 public:
  explicit TemporaryPaths(std::vector<std::string> paths);
  ~TemporaryPaths();
  TemporaryPaths(const TemporaryPaths&) = delete;
  TemporaryPaths& operator=(const TemporaryPaths&) = delete;

 private:
  std::vector<std::string> paths_;
};

/// From now on a process that is told to stop (Ctrl-C, SIGTERM, SIGHUP) removes what is temporary
/// first. For programs; a library leaves signals alone.
void remove_temporary_files_on_signals();

}  // namespace elias
