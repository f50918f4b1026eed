#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/errors.h"
#include "base/signals.h"

namespace elias {
namespace {

// Paths of temporary files and folders that exist now, in memory that a signal handler may read. A
// file that finds no room here is written all the same; only a signal would leave it behind.
struct Registered {
  std::atomic<bool> taken{false}, ready{false};
  char path[PATH_MAX];
};
std::array<Registered, 128> registry;  // more than a model has files

void register_temporary(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  for (auto& entry : registry) {
    if (entry.taken.exchange(true)) continue;
    std::memcpy(entry.path, path.c_str(), path.size() + 1);
    entry.ready = true;
    return;
  }
}

void forget_temporary(const std::string& path) {
  for (auto& entry : registry) {
    if (!entry.ready || path != entry.path) continue;
    entry.ready = false;
    entry.taken = false;
  }
}

extern "C" void remove_temporary_files_and_stop(int signal) {
  for (const auto& entry : registry) {
    if (entry.ready) ::unlink(entry.path);
  }
  for (const auto& entry : registry) {
    if (entry.ready) ::rmdir(entry.path);  // the folders, now that their files are gone
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// The path with symbolic links followed, if there is something there to follow.
std::string follow_links(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(follow_links(path)) {
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw InputError("{}: is a directory: give the path of a file to write", path);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    file_ = std::fopen(target_.c_str(), "wb");
  } else {
    temporary_ = fmt::format("{}.{}.tmp", target_, ::getpid());
    ::unlink(temporary_.c_str());  // left by a killed process that had our id
    register_temporary(temporary_);
    file_ = std::fopen(temporary_.c_str(), "wbx");
    if (file_ != nullptr && exists) ::fchmod(::fileno(file_), status.st_mode & 07777);
  }
  if (file_ == nullptr) {
    const std::string reason = system_error_text();
    forget_temporary(temporary_);
    throw InputError("{}: cannot be written ({}): check that the folder exists and is writable",
                     path, reason);
  }
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget_temporary(temporary_);
}

void AtomicFile::write(std::string_view bytes) {
  ELIAS_ASSERT(file_ != nullptr);
  if (bytes.empty()) return;  // whose data may be null, which fwrite must not be given
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail_write();
}

void AtomicFile::overwrite_start(std::string_view bytes) {
  ELIAS_ASSERT(file_ != nullptr && is_replaceable());
  if (std::fseek(file_, 0, SEEK_SET) != 0) fail_write();
  write(bytes);
  if (std::fseek(file_, 0, SEEK_END) != 0) fail_write();
}

void AtomicFile::commit() {
  ELIAS_ASSERT(file_ != nullptr);
  if (std::fflush(file_) != 0) fail_write();
  if (!temporary_.empty()) {
    if (::fsync(::fileno(file_)) != 0 || std::rename(temporary_.c_str(), target_.c_str()) != 0) {
      fail_write();
    }
    forget_temporary(temporary_);
    sync_folder_of(target_);
  }
  std::fclose(file_);
  file_ = nullptr;
}

void AtomicFile::fail_write() const {
  throw InputError("{}: cannot be written ({}): nothing was changed; free space and try again",
                   path_, system_error_text());
}

void sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;  // the data itself is safe; some file systems refuse this
  ::fsync(descriptor);
  ::close(descriptor);
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

TemporaryPaths::TemporaryPaths(std::vector<std::string> paths) : paths_(std::move(paths)) {
  for (const auto& path : paths_) register_temporary(path);
}

TemporaryPaths::~TemporaryPaths() {
  for (const auto& path : paths_) forget_temporary(path);
}

void remove_temporary_files_on_signals() { on_stop_signals(remove_temporary_files_and_stop); }

}  // namespace elias
