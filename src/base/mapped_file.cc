#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/errors.h"

namespace elias {
namespace {

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) {
    throw InputError("{}: cannot be opened ({}): check the path and its permissions", path,
                     system_error_text());
  }
  struct stat status {};
  if (::fstat(file.value, &status) != 0 || !S_ISREG(status.st_mode)) {
    throw InputError("{}: is not a regular file: give the path of a file", path);
  }
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;  // mmap refuses length 0; an empty span says it all
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (address == MAP_FAILED) {
    throw InputError("{}: cannot be mapped into memory ({}): free memory or address space", path,
                     system_error_text());
  }
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace elias
