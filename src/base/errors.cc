#include "base/errors.h"

#include <cerrno>
#include <cstring>

namespace elias {

std::string system_error_text() { return std::strerror(errno); }

std::string shown(std::string_view value) {
  constexpr size_t kLongest = 40;
  std::string text = "'";
  for (char c : value.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    // Bytes from 0x80 on stay as they are: labels in any script remain readable in the message.
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  if (value.size() > kLongest) {
    // Do not cut a UTF-8 sequence in half.
    while ((static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
    text += "...";
  }
  return text + "'";
}

void assertion_failed(const char* expression, const char* file, int line) {
  throw InternalError(fmt::format("{}:{}: broken invariant: {}", file, line, expression));
}

}  // namespace elias
