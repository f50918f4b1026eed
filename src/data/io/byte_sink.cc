#include "data/io/byte_sink.h"

#include <zlib.h>

#include <cstdio>
#include <vector>

#include "base/atomic_file.h"
#include "base/errors.h"

namespace elias {
namespace {

class FileSink : public ByteSink {
 public:
  explicit FileSink(const std::string& path) : file_(path) {}
  void write(std::string_view bytes) override { file_.write(bytes); }
  void commit() override { file_.commit(); }

 private:
  AtomicFile file_;
};

class StandardOutput : public ByteSink {
 public:
  void write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) fail();
  }
  void flush() override {
    if (std::fflush(stdout) != 0) fail();
  }
  void commit() override { flush(); }

 private:
  [[noreturn]] static void fail() {
    throw InputError("standard output: cannot be written ({}): is the reader still there?",
                     system_error_text());
  }
};

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> below) : below_(std::move(below)), buffer_(1 << 16) {
    constexpr int kGzipWindow = 15 + 16, kMemory = 8;
    ELIAS_ASSERT(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory,
                              Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~GzipSink() override { deflateEnd(&stream_); }

  void write(std::string_view bytes) override { deflate_all(bytes, Z_NO_FLUSH); }
  void commit() override {
    deflate_all({}, Z_FINISH);
    below_->commit();
  }

 private:
  void deflate_all(std::string_view bytes, int flush) {
    while (true) {
      // avail_in is 32 bits wide; more goes in further rounds.
      const std::string_view part = bytes.substr(0, size_t{1} << 30);
      bytes.remove_prefix(part.size());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream_.avail_in = static_cast<uInt>(part.size());
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_out = static_cast<uInt>(buffer_.size());
        deflate(&stream_, flush);
        below_->write({buffer_.data(), buffer_.size() - stream_.avail_out});
      } while (stream_.avail_out == 0);
      if (bytes.empty()) return;
    }
  }

  std::unique_ptr<ByteSink> below_;
  std::vector<char> buffer_;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<ByteSink> create_bytes(const std::string& path) {
  if (path == "-") return std::make_unique<StandardOutput>();
  auto file = std::make_unique<FileSink>(path);
  if (path.ends_with(".gz")) return std::make_unique<GzipSink>(std::move(file));
  return file;
}

}  // namespace elias
