#include "server/secrets.h"

#include <algorithm>

#include "base/errors.h"
#include "base/mapped_file.h"

namespace elias::server {

std::string read_token(const std::string& path) {
  const MappedFile file(path);
  std::string token(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  constexpr const char* kBlanks = " \t\r\n";
  token.erase(token.find_last_not_of(kBlanks) + 1);
  token.erase(0, std::min(token.find_first_not_of(kBlanks), token.size()));
  if (token.empty()) throw InputError("{}: is empty: write a token into it", path);
  if (!std::ranges::all_of(token, [](char c) {
        return c > 0x20 && c < 0x7f && c != '%';  // in headers the library decodes %41
      })) {
    throw InputError(
        "{}: holds more than one word of ASCII, or a %: write a token of letters and digits", path);
  }
  return token;
}

bool bears_token(std::string_view header, std::string_view token) {
  if (token.empty()) return true;
  constexpr std::string_view kScheme = "Bearer ";
  if (!header.starts_with(kScheme)) return false;
  header.remove_prefix(kScheme.size());
  unsigned different = header.size() != token.size() ? 1 : 0;
  for (size_t i = 0; i < token.size(); ++i) {
    const char given = header.empty() ? '\0' : header[i % header.size()];
    different |= static_cast<unsigned char>(given ^ token[i]);
  }
  return different == 0;
}

}  // namespace elias::server
