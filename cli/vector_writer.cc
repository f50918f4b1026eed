#include "cli/vector_writer.h"

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "data/io/byte_sink.h"

namespace elias::cli {
namespace {

class JsonLines : public VectorWriter {
 public:
  explicit JsonLines(const std::string& path) : sink_(create_bytes(path)) {}

  void write(ConstTensorView rows) override {
    std::string lines;
    for (int64_t row = 0; row < rows.rows(); ++row) {
      lines += "{\"vector\": [";
      const float* const values = rows.data<float>() + row * rows.stride();
      for (int64_t i = 0; i < rows.width(); ++i) {
        fmt::format_to(std::back_inserter(lines), "{}{}", i == 0 ? "" : ", ", values[i]);
      }
      lines += "]}\n";
    }
    sink_->write(lines);
  }
  void flush() override { sink_->flush(); }
  void commit() override { sink_->commit(); }

 private:
  std::unique_ptr<ByteSink> sink_;
};

// The header comes first and says how many rows there are: it is written again at the end.
class NumpyArray : public VectorWriter {
 public:
  NumpyArray(const std::string& path, int64_t width) : file_(path), width_(width) {
    if (!file_.is_replaceable()) {
      throw InputError(
          "{}: is no file: npy says at its start how much there is: use --format jsonl", path);
    }
    file_.write(header());
  }

  void write(ConstTensorView rows) override {
    ELIAS_ASSERT(rows.width() == width_);
    for (int64_t row = 0; row < rows.rows(); ++row) {
      const auto* const bytes =
          reinterpret_cast<const char*>(rows.data<float>() + row * rows.stride());
      file_.write({bytes, static_cast<size_t>(width_) * sizeof(float)});
    }
    rows_ += rows.rows();
  }
  void flush() override {}
  void commit() override {
    file_.overwrite_start(header());
    file_.commit();
  }

 private:
  // Of 128 bytes, whatever the number of rows.
  std::string header() const {
    constexpr size_t kBytes = 128, kBefore = 10;
    std::string text = fmt::format(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows_, width_);
    text.resize(kBytes - kBefore - 1, ' ');
    const auto length = static_cast<char>(kBytes - kBefore);
    return std::string("\x93NUMPY\x01\x00", 8) + length + '\0' + text + '\n';
  }

  AtomicFile file_;
  int64_t width_, rows_ = 0;
};

}  // namespace

std::unique_ptr<VectorWriter> create_vectors(const std::string& path, const std::string& format,
                                             int64_t width) {
  if (format == "jsonl") return std::make_unique<JsonLines>(path);
  if (path == "-") {
    throw InputError("npy is not written to standard output: give --out FILE, or --format jsonl");
  }
  return std::make_unique<NumpyArray>(path, width);
}

}  // namespace elias::cli
