// Writing a folder so that its path never shows half of it.
//
// Files go to a folder beside the path, and commit() renames it into place; without it, the
// destructor removes it with all that is in it, as a process does that is told to stop
// (base/atomic_file.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"

namespace elias {

/// The path with links followed, and without a slash at its end. Throws InputError if that cannot
/// be said.
std::string folder_followed(const std::string& path);

class NewFolder {
 public:
  /// At `target` there must be nothing, or an empty folder. `files`: the names of all files that
  /// may be written, at most one folder deep. Throws InputError if no folder can be made there.
  NewFolder(const std::string& target, const std::vector<std::string>& files);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  /// Where the files are written.
  const std::string& path() const { return path_; }
  /// Throws InputError if something came to be at the target.
  void commit();

 private:
  std::string target_, path_;
  std::optional<TemporaryPaths> temporary_;
};

}  // namespace elias
