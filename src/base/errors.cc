#include "base/errors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace elias {

std::string system_error_text() { return std::strerror(errno); }

std::string shown(std::string_view value) {
  constexpr size_t kLongest = 40;
  size_t cut = std::min(value.size(), kLongest);
  // Do not cut a UTF-8 sequence in half.
  while (cut < value.size() && cut > 0 && (static_cast<unsigned char>(value[cut]) & 0xc0) == 0x80) {
    --cut;
  }
  std::string text = "'";
  for (char c : value.substr(0, cut)) {
    const auto byte = static_cast<unsigned char>(c);
    // Bytes from 0x80 on stay as they are: labels in any script remain readable in the message.
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + (cut < value.size() ? "...'" : "'");
}

void assertion_failed(const char* expression, const char* file, int line) {
  throw InternalError(fmt::format("{}:{}: broken invariant: {}", file, line, expression));
}

}  // namespace elias
