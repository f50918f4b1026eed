#include "server/spool.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/errors.h"
#include "server/api_error.h"

namespace elias::server {
namespace {

[[noreturn]] void fail() {
  throw ApiError(503, "",
                 "the server has no room for the answers on its disk ({}): ask for less, or later",
                 system_error_text());
}

std::FILE* nameless_file() {
  std::string path = (std::filesystem::temp_directory_path() / "elias-answers-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) fail();
  ::unlink(path.c_str());
  std::FILE* const file = ::fdopen(descriptor, "w+b");
  if (file == nullptr) {
    ::close(descriptor);
    fail();
  }
  return file;
}

}  // namespace

Spool::Spool() : file_(nameless_file()) {}
Spool::~Spool() { std::fclose(file_); }

void Spool::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void Spool::rewind() {
  if (std::fflush(file_) != 0 || std::fseek(file_, 0, SEEK_SET) != 0) fail();
}

std::optional<std::string> Spool::read(size_t most) {
  std::string bytes(most, '\0');
  bytes.resize(std::fread(bytes.data(), 1, most, file_));
  if (bytes.size() < most && std::ferror(file_) != 0) return std::nullopt;
  return bytes;
}

}  // namespace elias::server
