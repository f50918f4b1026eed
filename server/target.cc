#include "server/target.h"

#include <algorithm>
#include <optional>

#include "base/errors.h"
#include "data/io/utf8.h"
#include "server/api_error.h"

namespace elias::server {
namespace {

std::optional<int> hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::string decoded(std::string_view text, bool plus_is_blank) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      plain += ' ';
    } else if (text[i] != '%') {
      plain += text[i];
    } else {
      const auto high = i + 2 < text.size() ? hexadecimal(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hexadecimal(text[i + 2]) : std::nullopt;
      if (!high || !low) {
        throw ApiError(400, "", "the address has a % without two hexadecimal digits: write %25");
      }
      plain += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  if (find_invalid_utf8(plain) != std::string_view::npos) {
    throw ApiError(400, "", "the address is not UTF-8 at {}: encode it as that", shown(text));
  }
  return plain;
}

/// Takes the part of `text` before the first `separator` away, with it.
std::string_view take_part(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

Target Target::parse(std::string_view target) {
  Target parts;
  std::string_view query = target;
  std::string_view path = take_part(query, '?');
  if (!path.starts_with('/')) {
    throw ApiError(400, "", "the address {} does not begin with a slash: give a path", shown(path));
  }
  do {
    path.remove_prefix(1);
    const size_t end = std::min(path.find('/'), path.size());
    parts.segments.push_back(decoded(path.substr(0, end), false));
    path.remove_prefix(end);
  } while (!path.empty());

  while (!query.empty()) {
    std::string_view value = take_part(query, '&');
    const std::string name = decoded(take_part(value, '='), true);
    for (const auto& [other, _] : parts.query) {
      if (other == name) throw ApiError(400, name, "{} is given twice: give it once", shown(name));
    }
    parts.query.emplace_back(name, decoded(value, true));
  }
  return parts;
}

}  // namespace elias::server
