#include "server/framing.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace elias::server {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr size_t kMostDigits = 15;  // of a chunk's size, which fit 64 bits

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_of_name(char c) {
  return is_letter_or_digit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_of_value(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

/// Of headers that say how long a body is.
bool is_about_length(std::string_view name) {
  const auto is = [&](std::string_view wanted) {
    return std::ranges::equal(name, wanted, [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  };
  return is("content-length") || is("transfer-encoding");
}

}  // namespace

bool is_header_line(std::string_view line) {
  if (!line.ends_with(kLineEnd)) return false;
  line.remove_suffix(kLineEnd.size());
  if (line.empty()) return true;
  const size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, colon), value = line.substr(colon + 1);
  if (!std::ranges::all_of(name, is_of_name) || !std::ranges::all_of(value, is_of_value)) {
    return false;
  }
  // The library drops a header without a value, and decodes %35.
  return !is_about_length(name) || (value.find_first_not_of(" \t") != std::string_view::npos &&
                                    value.find('%') == std::string_view::npos);
}

bool ChunkFraming::takes(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t data = std::min(data_, bytes.size());
    data_ -= data;
    bytes.remove_prefix(data);
    if (bytes.empty()) return true;
    line_ += bytes.front();
    bytes.remove_prefix(1);
    if (line_.back() == '\n') {
      if (!takes_line(std::exchange(line_, ""))) return false;
    } else if (line_.size() > kMostDigits + 1) {
      return false;
    }
  }
  return true;
}

bool ChunkFraming::takes_line(std::string_view line) {
  if (!line.ends_with(kLineEnd)) return false;
  line.remove_suffix(kLineEnd.size());
  if (std::exchange(ends_, !ends_)) return line.empty();
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, data_, 16);
  return error == std::errc() && stop == end;
}

}  // namespace elias::server
