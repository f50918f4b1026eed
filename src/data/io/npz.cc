#include "data/io/npz.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "base/mapped_file.h"
#include "data/io/byte_source.h"
#include "data/io/npy_reader.h"
#include "data/io/zip_reader.h"
#include "data/io/zip_writer.h"

namespace elias {
namespace {

using Bytes = std::span<const std::byte>;

class CsrLoader {
 public:
  CsrLoader(Bytes bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
    for (auto& member : list_zip(bytes, name_)) {
      std::string key = member.name;
      members_.emplace(std::move(key), std::move(member));
    }
  }

  Csr load() {
    const std::string format = open("format").read_text();
    if (format != "csr") {
      throw InputError("{}: is a {} matrix: save it with .tocsr()", name_, shown(format));
    }
    NpyReader shape_reader = open("shape");
    if (shape_reader.size() != 2) fail("the shape is not two numbers");
    uint64_t shape[2];
    shape_reader.read(shape, 2);
    rows_ = shape[0];
    matrix_.cols = shape[1];
    if (matrix_.cols > std::numeric_limits<uint32_t>::max()) fail("too many columns");
    load_arrays();
    sort_rows();
    return std::move(matrix_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("{}: the matrix is not valid ({}): save it again", name_, what);
  }

  NpyReader open(const std::string& key) const {
    const auto found = members_.find(key + ".npy");
    if (found == members_.end()) {
      throw InputError(
          "{}: has no array {}, so it is not a sparse matrix: write it with "
          "scipy.sparse.save_npz",
          name_, shown(key));
    }
    return NpyReader(bytes_, found->second, name_);
  }

  void load_arrays() {
    NpyReader offsets = open("indptr"), columns = open("indices"), values = open("data");
    if (rows_ >= offsets.size() || offsets.size() - 1 != rows_) fail("indptr has the wrong size");
    if (columns.size() != values.size()) fail("indices and data differ in size");
    matrix_.offsets.resize(rows_ + 1);
    offsets.read(matrix_.offsets.data(), matrix_.offsets.size());
    if (matrix_.offsets[0] != 0 || matrix_.offsets.back() != columns.size() ||
        !std::is_sorted(matrix_.offsets.begin(), matrix_.offsets.end())) {
      fail("indptr does not rise from 0 to the number of entries");
    }
    matrix_.columns.resize(columns.size());
    columns.read(matrix_.columns.data(), matrix_.columns.size());
    matrix_.values.resize(values.size());
    values.read(matrix_.values.data(), matrix_.values.size());
    for (size_t row = 0; row < rows_; ++row) check_row(row);
  }

  void check_row(size_t row) const {
    const CsrRow entries = matrix_.row(row);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries.columns[i] >= matrix_.cols) {
        throw InputError(
            "{}: row {}, column {} is beyond the {} columns of its shape: save it again", name_,
            row, entries.columns[i], matrix_.cols);
      }
      if (!std::isfinite(entries.values[i])) {
        throw InputError("{}: row {}, column {} is not a finite number: mend or remove it", name_,
                         row, entries.columns[i]);
      }
    }
  }

  // scipy does not promise sorted columns. Only a matrix that needs it is built anew.
  void sort_rows() {
    bool sorted = true;
    for (size_t row = 0; row < rows_ && sorted; ++row) {
      const auto columns = matrix_.row(row).columns;
      sorted = std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) ==
               columns.end();
    }
    if (sorted) return;
    Csr result;
    result.cols = matrix_.cols;
    for (size_t row = 0; row < rows_; ++row) {
      const CsrRow entries = matrix_.row(row);
      result.columns.insert(result.columns.end(), entries.columns.begin(), entries.columns.end());
      result.values.insert(result.values.end(), entries.values.begin(), entries.values.end());
      result.finish_row(Csr::Repeats::kSum);
    }
    matrix_ = std::move(result);
    for (size_t row = 0; row < rows_; ++row) check_row(row);  // sums may have run over
  }

  Bytes bytes_;
  std::string name_;
  std::map<std::string, ZipMember> members_;
  uint64_t rows_ = 0;
  Csr matrix_;
};

// The header of a .npy file, padded so that the data starts at a multiple of 64 bytes.
std::string npy_header(std::string_view type, const std::string& shape) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  constexpr size_t kStart = 10, kAlignment = 64;
  header.append(kAlignment - (kStart + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());
  std::string start("\x93NUMPY\x01\x00", 8);
  start.append(reinterpret_cast<const char*>(&length), 2);
  return start + header;
}

template <typename T>
void write_array(ZipWriter& zip, const std::string& key, std::string_view type,
                 std::span<const T> elements) {
  zip.begin(key + ".npy");
  const std::string header = npy_header(type, fmt::format("{},", elements.size()));
  zip.write(header.data(), header.size());
  zip.write(elements.data(), elements.size_bytes());
  zip.end();
}

// scipy wants indices and indptr of one type.
template <typename Index>
void write_indices(ZipWriter& zip, std::string_view type, const Csr& matrix) {
  const std::vector<Index> columns(matrix.columns.begin(), matrix.columns.end());
  write_array<Index>(zip, "indices", type, columns);
  std::vector<Index> offsets;
  offsets.reserve(matrix.offsets.size());
  for (uint64_t offset : matrix.offsets) offsets.push_back(static_cast<Index>(offset));
  write_array<Index>(zip, "indptr", type, offsets);
}

}  // namespace

Csr read_npz(Bytes bytes, const std::string& name) { return CsrLoader(bytes, name).load(); }

bool is_mappable_npz(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const MappedFile file(path);
  return file.bytes().size() >= 2 && std::memcmp(file.bytes().data(), "PK", 2) == 0;
}

Csr read_npz(const std::string& path) {
  if (is_mappable_npz(path)) {
    const MappedFile file(path);
    return read_npz(file.bytes(), path);
  }
  const auto source = open_bytes(path);
  const std::string bytes = read_all(*source);
  return read_npz(std::as_bytes(std::span(bytes)), source->name());
}

void write_npz(ByteSink& sink, const Csr& matrix) {
  ZipWriter zip(sink);
  constexpr uint64_t kInt32 = std::numeric_limits<int32_t>::max();
  if (matrix.cols <= kInt32 && matrix.nonzeros() <= kInt32) {
    write_indices<int32_t>(zip, "<i4", matrix);
  } else {
    write_indices<int64_t>(zip, "<i8", matrix);
  }
  zip.begin("format.npy");
  const std::string header = npy_header("|S3", "");
  zip.write(header.data(), header.size());
  zip.write("csr", 3);
  zip.end();
  const int64_t shape[2] = {static_cast<int64_t>(matrix.rows()), static_cast<int64_t>(matrix.cols)};
  write_array<int64_t>(zip, "shape", "<i8", shape);
  write_array<float>(zip, "data", "<f4", matrix.values);
  zip.finish();
}

void write_npz(const std::string& path, const Csr& matrix) {
  const auto sink = create_bytes(path);
  write_npz(*sink, matrix);
  sink->commit();
}

}  // namespace elias
