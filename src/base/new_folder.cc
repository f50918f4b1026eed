#include "base/new_folder.h"

#include <unistd.h>

#include <filesystem>
#include <set>
#include <system_error>

#include "base/errors.h"

namespace elias {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& target, const std::error_code& error) {
  throw InputError("{}: cannot be made ({}): name another folder", target, error.message());
}

// A folder behind all that is in it: so a signal can remove one after the other.
std::vector<std::string> paths_of(const fs::path& folder, const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  std::set<fs::path> below;
  for (const std::string& name : files) {
    const fs::path file = folder / name;
    paths.push_back(file.string());
    if (file.parent_path() != folder) below.insert(file.parent_path());
  }
  paths.insert(paths.end(), below.begin(), below.end());
  paths.push_back(folder.string());
  return paths;
}

}  // namespace

std::string folder_followed(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(path, error);
  if (error) fail(path, error);
  return (whole.has_filename() ? whole : whole.parent_path()).string();
}

NewFolder::NewFolder(const std::string& target, const std::vector<std::string>& files)
    : target_(folder_followed(target)), path_(fmt::format("{}.{}.tmp", target_, ::getpid())) {
  std::error_code error;
  fs::remove_all(path_, error);  // left by a killed process that had our id
  fs::create_directories(path_, error);
  if (error) fail(target, error);
  temporary_.emplace(paths_of(path_, files));
}

NewFolder::~NewFolder() {
  if (!temporary_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void NewFolder::commit() {
  std::error_code error;
  fs::rename(path_, target_, error);  // in the place of an empty folder as well
  if (error) fail(target_, error);
  temporary_.reset();
  sync_folder_of(target_);
}

}  // namespace elias
