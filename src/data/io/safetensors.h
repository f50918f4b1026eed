// The safetensors container: named arrays in one file, written here, mapped here, and readable from
// Python's safetensors as it is.
//
// Layout: 8 bytes of header length (little-endian), a JSON header padded with spaces to a multiple
// of 64, then the tensors back to back. A file is hostile until proven otherwise: every size,
// offset, alignment and name is checked before a byte of a tensor can be reached. Our own files
// also carry a checksum of everything, in __metadata__; whoever must not use a damaged file asks
// for it to be verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/mapped_file.h"

namespace elias {

/// What the elements of a stored tensor are, under their names in the format.
enum class StoredType {
  kF64,
  kF32,
  kF16,
  kBf16,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool
};

std::string_view stored_type_name(StoredType type);
size_t stored_type_size(StoredType type);

template <typename T>
constexpr StoredType stored_type_of() {
  if constexpr (std::is_same_v<T, double>) return StoredType::kF64;
  if constexpr (std::is_same_v<T, float>) return StoredType::kF32;
  if constexpr (std::is_same_v<T, int64_t>) return StoredType::kI64;
  if constexpr (std::is_same_v<T, int32_t>) return StoredType::kI32;
  if constexpr (std::is_same_v<T, uint64_t>) return StoredType::kU64;
  if constexpr (std::is_same_v<T, uint32_t>) return StoredType::kU32;
  if constexpr (std::is_same_v<T, uint16_t>) return StoredType::kU16;
  if constexpr (sizeof(T) == 1) return StoredType::kU8;
}

struct StoredTensor {
  StoredType type{};
  std::vector<uint64_t> shape;
  std::span<const std::byte> bytes;  // aligned to the element's size

  uint64_t elements() const { return bytes.size() / stored_type_size(type); }
};

/// Gathers tensors and writes them as one file, in one atomic step.
class SafetensorsWriter {
 public:
  /// The bytes are not copied: they must stay until write().
  void add(const std::string& name, StoredTensor tensor);

  template <typename T>
  void add(const std::string& name, std::span<const T> values) {
    add(name, {stored_type_of<T>(), {values.size()}, std::as_bytes(values)});
  }

  void set_metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

  void write(const std::string& path) const;

 private:
  std::string header() const;

  std::vector<std::pair<std::string, StoredTensor>> tensors_;  // by falling element size
  std::map<std::string, std::string> metadata_;
};

class SafetensorsFile {
 public:
  /// Maps `path`. Throws InputError if it is not a sound file of this format.
  explicit SafetensorsFile(const std::string& path);

  /// The same over bytes that outlive the object, 8-byte aligned; `name` stands in messages.
  SafetensorsFile(std::span<const std::byte> bytes, const std::string& name);

  const std::string& name() const { return name_; }
  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }

  /// Throws InputError if there is no such tensor.
  const StoredTensor& tensor(const std::string& name) const;

  /// A tensor with one dimension. Throws InputError if its elements are not of type T.
  template <typename T>
  std::span<const T> vector(const std::string& name) const {
    const StoredTensor& found = tensor(name);
    require_vector(name, found, stored_type_of<T>());
    return {reinterpret_cast<const T*>(found.bytes.data()), found.elements()};
  }

  std::optional<std::string> metadata(const std::string& key) const;

  /// False if a byte of the file is not as it was written, or it has no checksum.
  bool has_right_checksum() const;
  /// Throws InputError then.
  void verify_checksum() const;

 private:
  void parse();
  void parse_header(std::string_view header, std::span<const std::byte> data);
  void check_layout(size_t data_size) const;
  void require_vector(const std::string& name, const StoredTensor& tensor, StoredType type) const;

  std::optional<MappedFile> mapped_;
  std::string name_;
  std::span<const std::byte> bytes_;
  std::map<std::string, StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// The checksum that `file`, the bytes of a whole file, must carry; empty if it carries none.
std::optional<std::string> safetensors_checksum(std::span<const std::byte> file);

/// The same from the header, with its length before it, and the data in pieces.
std::optional<std::string> safetensors_checksum(
    std::string header, const std::vector<std::span<const std::byte>>& data);

}  // namespace elias
