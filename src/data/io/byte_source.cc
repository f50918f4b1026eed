#include "data/io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/errors.h"

namespace elias {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(int descriptor, std::string name)
      : ByteSource(std::move(name)), descriptor_(descriptor) {}
  ~FileSource() override {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }

  size_t read(char* into, size_t capacity) override {
    while (true) {
      const ssize_t count = ::read(descriptor_, into, capacity);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno == EISDIR) {
        throw InputError("{}: is a directory: give the path of a file", name());
      }
      if (errno != EINTR) {
        throw InputError("{}: cannot be read ({}): check the disk and try again", name(),
                         system_error_text());
      }
    }
  }

 private:
  int descriptor_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::string name)
      : ByteSource(std::move(name)), left_(bytes) {}

  size_t read(char* into, size_t capacity) override {
    const size_t count = std::min(capacity, left_.size());
    std::copy_n(left_.data(), count, into);
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view left_;
};

constexpr size_t kChunk = size_t{1} << 15;
constexpr unsigned char kGzipMagic[2] = {0x1f, 0x8b};

// Looks at the first bytes of `raw` and passes everything on, inflated if it is gzip. A file of
// several gzip members (as `cat a.gz b.gz` and parallel compressors make) is read to its end.
class MaybeGzipSource : public ByteSource {
 public:
  explicit MaybeGzipSource(std::unique_ptr<ByteSource> raw)
      : ByteSource(raw->name()), raw_(std::move(raw)), buffer_(kChunk) {
    while (available_ < 2 && refill()) {
    }
    inflating_ = at_member();
    if (inflating_) {
      constexpr int kGzipWindow = 15 + 16;
      ELIAS_ASSERT(inflateInit2(&stream_, kGzipWindow) == Z_OK);
    }
  }
  ~MaybeGzipSource() override {
    if (inflating_) inflateEnd(&stream_);
  }

  size_t read(char* into, size_t capacity) override {
    if (inflating_) return inflate_some(into, capacity);
    if (available_ == 0) return raw_->read(into, capacity);
    const size_t count = std::min(capacity, available_);
    std::copy_n(buffer_.data() + begin_, count, into);
    begin_ += count;
    available_ -= count;
    return count;
  }

 private:
  // Reads more behind what is available; false at the end.
  bool refill() {
    if (available_ == 0) begin_ = 0;
    const size_t end = begin_ + available_;
    if (end == buffer_.size()) return true;
    const size_t count = raw_->read(buffer_.data() + end, buffer_.size() - end);
    available_ += count;
    return count > 0;
  }

  bool at_member() const {
    return available_ >= 2 && std::memcmp(buffer_.data() + begin_, kGzipMagic, 2) == 0;
  }

  size_t inflate_some(char* into, size_t capacity) {
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(capacity, 1u << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && !ended_) {
      if (available_ == 0 && !refill()) {
        throw InputError("{}: the gzip data ends early: the file is cut off, copy it again",
                         name());
      }
      stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data() + begin_);
      stream_.avail_in = static_cast<uInt>(available_);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      begin_ += available_ - stream_.avail_in;
      available_ = stream_.avail_in;
      if (result == Z_STREAM_END) {
        start_next_member();
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        throw InputError("{}: the gzip data is damaged ({}): copy or make the file again", name(),
                         stream_.msg != nullptr ? stream_.msg : "checksum");
      }
    }
    return wanted - stream_.avail_out;
  }

  void start_next_member() {
    while (available_ < 2 && make_room() && refill()) {
    }
    // Zero bytes after the last member are padding that some tapes and tools add.
    while (available_ > 0 && buffer_[begin_] == 0) {
      ++begin_;
      --available_;
      if (available_ == 0) refill();
    }
    if (available_ == 0) {
      ended_ = true;
    } else if (at_member()) {
      inflateReset(&stream_);
    } else {
      throw InputError("{}: bytes that are not gzip follow the gzip data: make the file again",
                       name());
    }
  }

  bool make_room() {
    std::copy_n(buffer_.data() + begin_, available_, buffer_.data());
    begin_ = 0;
    return true;
  }

  std::unique_ptr<ByteSource> raw_;
  std::vector<char> buffer_;
  size_t begin_ = 0, available_ = 0;
  bool inflating_ = false, ended_ = false;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  if (path == "-") {
    return std::make_unique<MaybeGzipSource>(
        std::make_unique<FileSource>(STDIN_FILENO, "standard input"));
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    throw InputError("{}: cannot be opened ({}): check the path and its permissions", path,
                     system_error_text());
  }
  return std::make_unique<MaybeGzipSource>(std::make_unique<FileSource>(descriptor, path));
}

std::unique_ptr<ByteSource> bytes_in_memory(std::string_view bytes, std::string name) {
  return std::make_unique<MaybeGzipSource>(std::make_unique<MemorySource>(bytes, std::move(name)));
}

std::string read_all(ByteSource& source) {
  std::string bytes;
  size_t size = 0;
  while (true) {
    bytes.resize(std::max(2 * size, kChunk));
    const size_t count = source.read(bytes.data() + size, bytes.size() - size);
    size += count;
    if (count == 0) break;
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace elias
