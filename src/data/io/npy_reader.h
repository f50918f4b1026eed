// One array of an npz archive: its type and shape, and its elements front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "data/io/zip_reader.h"

namespace elias {

class NpyReader {
 public:
  /// `file` names the archive in messages. Throws InputError if the member is not a numpy array.
  NpyReader(std::span<const std::byte> bytes, const ZipMember& member, const std::string& file);

  /// The number of elements.
  uint64_t size() const { return size_; }

  /// Reads the next `count` elements as T, whatever their stored type. Integers that do not fit T
  /// and fractions where T is an integer are refused.
  template <typename T>
  void read(T* into, size_t count);

  /// The elements as text, for arrays of strings.
  std::string read_text();

 private:
  [[noreturn]] void fail(const std::string& what) const;

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

}  // namespace elias
