#include "report/terminal_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace elias {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Columns a UTF-8 text takes on a terminal, near enough: one a code point.
size_t columns_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

}  // namespace

std::string clipped(std::string name, size_t columns) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (columns_of(name) <= columns) return name;
  size_t end = 0;
  for (size_t left = columns - 3; end < name.size(); ++end) {
    if (starts_character(name[end]) && left-- == 0) break;
  }
  return name.substr(0, end) + "...";
}

std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain = "/._-+:@%,=";
  const auto is_plain = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos;
  };
  if (!path.empty() && std::ranges::all_of(path, is_plain)) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string wrapped(const std::vector<std::string>& items, const std::string& indent,
                    const std::string& start) {
  std::string text, line = start.empty() ? indent : start;
  bool is_new = true;  // the line holds no item yet
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (!is_new && columns_of(line) + 1 + columns_of(item) > kColumns) {
      text += line + "\n";
      line = indent;
      is_new = true;
    }
    line += (is_new ? "" : " ") + item;
    is_new = false;
  }
  return text + line + "\n";
}

}  // namespace elias
