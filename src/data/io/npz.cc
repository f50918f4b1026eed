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
#include "data/io/numbers.h"
#include "data/io/zip_reader.h"
#include "data/io/zip_writer.h"

namespace elias {
namespace {

using Bytes = std::span<const std::byte>;

// One member of the archive: an array with its type and shape, and the reader of its elements.
class NpyReader {
 public:
  NpyReader(Bytes bytes, const ZipMember& member, const std::string& file)
      : name_(file + "/" + member.name), reader_(bytes, member, name_) {
    read_header();
  }

  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  char kind() const { return kind_; }

  /// Reads the next `count` elements as T, whatever their stored type. Integers that do not fit T
  /// and fractions where T is an integer are refused.
  template <typename T>
  void read(T* into, size_t count);

  /// The elements as text, for arrays of strings.
  std::string read_text();

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("{}: {}: write the file with scipy.sparse.save_npz", name_, what);
  }

  void read_header();
  // The text behind 'key': in the header's dictionary.
  std::string_view value_of(std::string_view header, std::string_view key) const;

  template <typename Stored, typename T>
  void convert(T* into, size_t count);

  std::string name_;
  ZipMemberReader reader_;
  char kind_ = 0;       // i, u, f, b, S, U
  uint64_t width_ = 0;  // bytes an element
  uint64_t size_ = 1;   // elements
};

std::string_view NpyReader::value_of(std::string_view header, std::string_view key) const {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) fail("the array header is not numpy's");
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

void NpyReader::read_header() {
  unsigned char start[8];
  if (reader_.left() < 10) fail("the array is cut off");
  reader_.read(start, sizeof(start));
  if (std::memcmp(start, "\x93NUMPY", 6) != 0) fail("is not a numpy array");
  uint32_t length = 0;
  const size_t length_bytes = start[6] == 1 ? 2 : 4;  // format 1.0, or 2.0 and 3.0
  if (reader_.left() < length_bytes) fail("the array is cut off");
  reader_.read(&length, length_bytes);
  if (length > reader_.left() || length > (1u << 16)) fail("the array header is too long");
  std::string header(length, '\0');
  reader_.read(header.data(), length);

  const std::string_view type = value_of(header, "descr");
  if (type.size() < 5 || type[0] != '\'') fail("arrays of records are not supported");
  if (type[1] == '>') fail("big-endian numbers are not supported");
  kind_ = type[2];
  const char* p = type.data() + 3;
  const char* const end = header.data() + header.size();
  if (!parse_integer(p, end, width_) || width_ > 1024) fail("the element type is not known");
  if (kind_ == 'U') width_ *= 4;
  const std::string_view shape = value_of(header, "shape");
  for (p = shape.data(); p < end && *p != ')'; ++p) {
    uint64_t extent = 0;
    if (*p < '0' || *p > '9') continue;
    if (!parse_integer(p, end, extent)) fail("the array's shape is not known");
    if (extent != 0 && size_ > std::numeric_limits<uint64_t>::max() / extent) fail("too large");
    size_ *= extent;
    --p;
  }
  if (width_ == 0 || reader_.left() / width_ != size_ || reader_.left() % width_ != 0) {
    fail("the array's size does not fit its header");
  }
}

template <typename Stored, typename T>
void NpyReader::convert(T* into, size_t count) {
  Stored buffer[4096];
  while (count > 0) {
    const size_t some = std::min(count, std::size(buffer));
    reader_.read(buffer, some * sizeof(Stored));
    for (size_t i = 0; i < some; ++i) {
      if constexpr (std::is_integral_v<T>) {
        if (!std::in_range<T>(buffer[i])) {
          fail(fmt::format("the index {} is negative or too large", buffer[i]));
        }
      }
      into[i] = static_cast<T>(buffer[i]);
    }
    into += some;
    count -= some;
  }
}

template <typename T>
void NpyReader::read(T* into, size_t count) {
  if (kind_ == 'i' && width_ == 4) return convert<int32_t>(into, count);
  if (kind_ == 'i' && width_ == 8) return convert<int64_t>(into, count);
  if (kind_ == 'u' && width_ == 4) return convert<uint32_t>(into, count);
  if (kind_ == 'u' && width_ == 8) return convert<uint64_t>(into, count);
  if constexpr (std::is_floating_point_v<T>) {
    if (kind_ == 'f' && width_ == 4) return convert<float>(into, count);
    if (kind_ == 'f' && width_ == 8) return convert<double>(into, count);
    if ((kind_ == 'b' || kind_ == 'u') && width_ == 1) return convert<uint8_t>(into, count);
    if (kind_ == 'i' && width_ == 1) return convert<int8_t>(into, count);
    if (kind_ == 'i' && width_ == 2) return convert<int16_t>(into, count);
    if (kind_ == 'u' && width_ == 2) return convert<uint16_t>(into, count);
  }
  fail(fmt::format("elements of type {}{} are not supported here", kind_, width_));
}

std::string NpyReader::read_text() {
  std::string text(std::min<uint64_t>(reader_.left(), 64), '\0');
  reader_.read(text.data(), text.size());
  std::erase(text, '\0');  // padding, and the high bytes of UTF-32
  return text;
}

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
