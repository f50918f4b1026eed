#include "data/io/npy_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/errors.h"
#include "data/io/numbers.h"

namespace elias {

NpyReader::NpyReader(std::span<const std::byte> bytes, const ZipMember& member,
                     const std::string& file)
    : name_(file + "/" + member.name), reader_(bytes, member, name_) {
  read_header();
}

void NpyReader::fail(const std::string& what) const {
  throw InputError("{}: {}: write the file with scipy.sparse.save_npz", name_, what);
}

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

template void NpyReader::read(uint64_t*, size_t);
template void NpyReader::read(uint32_t*, size_t);
template void NpyReader::read(float*, size_t);

}  // namespace elias
