// Is this UTF-8? Asked of every text and name that is read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace elias {

/// Offset of the first byte that is not part of valid UTF-8 (no overlong forms, no surrogates,
/// nothing above U+10FFFF), or npos if all of it is.
size_t find_invalid_utf8(std::string_view text);

/// Throws InputError if `text` is not UTF-8. `where` starts the message: "trn.txt:12".
void require_utf8(std::string_view text, const std::string& where);

}  // namespace elias
