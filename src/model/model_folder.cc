#include "model/model_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "base/new_folder.h"

namespace elias {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_write(const std::string& path, const std::string& reason) {
  throw InputError("{}: cannot be written ({}): check its permissions and the space left", path,
                   reason);
}

bool holds_model_alone(const fs::path& folder) {
  const auto known = [](const fs::directory_entry& entry) {
    return is_model_file(entry.path().filename().string());
  };
  return std::all_of(fs::directory_iterator(folder), {}, known) &&
         is_config_of_model((folder / "config.json").string());
}

// A file of a model, or one that AtomicFile had begun for it: labels.txt.4711.tmp.
bool is_left_by_writer(const fs::directory_entry& entry) {
  fs::path name = entry.path().filename();
  if (name.extension() == ".tmp") name = name.stem().stem();
  return entry.is_regular_file() && is_model_file(name.string());
}

// Empties a folder that a killed process left; one of the same name with someone's own files stays.
void clear_left(const std::string& folder) {
  if (!std::all_of(fs::directory_iterator(folder), {}, is_left_by_writer)) {
    throw InputError(
        "{}: is in the way, and holds something else than a model: move it, or give another --out",
        folder);
  }
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove(entry);
}

std::vector<std::string> paths_of_model(const std::string& folder) {
  std::vector<std::string> paths = {folder};
  for (const std::string& name : model_files()) paths.push_back(fmt::format("{}/{}", folder, name));
  return paths;
}

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

int open_made_folder(const std::string& path) {
  fs::create_directories(path);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_write(path, system_error_text());
  return descriptor;
}

// A folder of no one else's while a model is written to it.
class FolderBeside {
 public:
  explicit FolderBeside(const std::string& target)
      : path_(target + ".elias-new"), lock_{open_made_folder(path_)} {
    if (::flock(lock_.value, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw InputError("{}: another process is writing it: wait for it, or give another --out",
                       target);
    }
    clear_left(path_);
    temporary_.emplace(paths_of_model(path_));
  }
  ~FolderBeside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  FolderBeside(const FolderBeside&) = delete;
  FolderBeside& operator=(const FolderBeside&) = delete;

  const std::string& path() const { return path_; }

  // What was at the target is in this folder's place afterwards, and goes with it.
  void put_at(const std::string& target) {
    temporary_.reset();  // a signal between two renames must not take the only model there is
    if (!fs::exists(target)) return fs::rename(path_, target);
    const ModelLock lock(target);
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
      return;
    }
    // Some file systems cannot exchange two names.
    const std::string old = target + ".elias-old";
    if (fs::exists(old)) clear_left(old);
    fs::rename(target, old);  // in the place of an empty folder as well
    std::error_code failed;
    fs::rename(path_, target, failed);
    if (failed) {
      fs::rename(old, target);
      fail_write(target, failed.message());
    }
    fs::remove_all(old);
  }

 private:
  std::string path_;
  Descriptor lock_;
  std::optional<TemporaryPaths> temporary_;
};

}  // namespace

ModelLock::ModelLock(const std::string& folder) {
  std::string path = folder + "/run/lock";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) path = folder;
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const bool taken = descriptor_ >= 0 && errno == EWOULDBLOCK;
  const std::string reason = system_error_text();
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!taken) fail_write(path, reason);
  throw InputError("{}: another process is changing this model: give the command again later",
                   folder);
}

ModelLock::~ModelLock() { ::close(descriptor_); }

std::string member_file(std::string_view part, size_t member) {
  return member == 0 ? fmt::format("{}.safetensors", part)
                     : fmt::format("{}.{}.safetensors", part, member + 1);
}

const std::vector<std::string>& model_files() {
  static const auto kFiles = [] {
    std::vector<std::string> files = {"features.safetensors"};
    for (size_t m = 0; m < kMostMembers; ++m) {
      for (const char* part : {"encoder", "index", "classifiers", "neighbours"}) {
        files.push_back(member_file(part, m));
      }
    }
    files.insert(files.end(), {"fusion.safetensors", "ranker.safetensors"});
    files.insert(files.end(), kThresholdFiles.begin(), kThresholdFiles.end());
    files.insert(files.end(), {"tokenizer.json", "labels.txt", "config.json"});
    return files;
  }();
  return kFiles;
}

bool is_model_file(std::string_view name) {
  return std::ranges::find(model_files(), name) != model_files().end();
}

bool is_config_of_model(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find("\"format\": \"elias-model\"") != std::string::npos;  // also if it is damaged
}

void require_room_for_model(const std::string& path, bool overwrite) try {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  if (!fs::is_directory(path)) {
    throw InputError("{}: is a file: give --out the name of a folder", path);
  }
  if (fs::is_empty(path)) return;
  if (!holds_model_alone(path)) {
    throw InputError("{}: holds something else than a model: give another --out", path);
  }
  if (!overwrite) {
    throw InputError("{}: holds a model: give another --out, or --overwrite to replace it", path);
  }
} catch (const fs::filesystem_error& error) {
  fail_write(path, error.code().message());
}

void replace_model(const std::string& path,
                   const std::function<void(const std::string& folder)>& write) try {
  const std::string target = folder_followed(path);
  FolderBeside beside(target);
  write(beside.path());
  beside.put_at(target);
} catch (const fs::filesystem_error& error) {
  fail_write(path, error.code().message());
}

}  // namespace elias
