#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/errors.h"

namespace elias {
namespace {

// A rename is durable once the folder that holds the name is.
void sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;  // the data itself is safe; some file systems refuse this
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path)
    : path_(path), temporary_(fmt::format("{}.{}.tmp", path, ::getpid())) {
  if (std::filesystem::is_directory(path)) {
    throw InputError("{}: is a directory: give the path of a file to write", path);
  }
  file_ = std::fopen(temporary_.c_str(), "wbx");
  if (file_ == nullptr && errno == EEXIST) {
    std::filesystem::remove(temporary_);  // left by a killed process that had our id
    file_ = std::fopen(temporary_.c_str(), "wbx");
  }
  if (file_ == nullptr) {
    throw InputError("{}: cannot be written ({}): check that the folder exists and is writable",
                     path, system_error_text());
  }
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  ELIAS_ASSERT(file_ != nullptr);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    throw InputError("{}: cannot be written ({}): nothing was changed; free space and try again",
                     path_, system_error_text());
  }
}

void AtomicFile::commit() {
  ELIAS_ASSERT(file_ != nullptr);
  if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0 ||
      std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw InputError("{}: cannot be written ({}): nothing was changed; free space and try again",
                     path_, system_error_text());
  }
  std::fclose(file_);
  file_ = nullptr;
  sync_folder_of(path_);
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace elias
