// UTF-8 in and out, and the few classes of characters the text layer asks for.
//
// Nothing here fails: a byte that does not belong to valid UTF-8 reads as U+FFFD, one byte long, so
// that any bytes at all can be tokenised. Classes and cases are those of utf8proc's Unicode (15 in
// 2.8); ASCII never gets that far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace elias {

inline constexpr char32_t kReplacement = 0xFFFD;

struct Decoded {
  char32_t point;
  uint32_t bytes;  // how many it took, at least 1
};

/// The character at `text[at]`; `at` < text.size().
Decoded decode_utf8(std::string_view text, size_t at);

/// Appends `point` as UTF-8. A surrogate or a value beyond U+10FFFF is written as U+FFFD.
void append_utf8(char32_t point, std::string& out);

inline bool is_ascii(char32_t point) { return point < 0x80; }

/// The length of the longest prefix of `text` that is ASCII.
size_t ascii_prefix(std::string_view text);

/// Letters (L*), numbers (N*) and the underscore: what a regular expression's \w means in Python.
bool is_word_character(char32_t point);

/// Combining marks (M*).
bool is_mark(char32_t point);

/// Unicode's White_Space property.
bool is_white_space(char32_t point);

/// Lower case of one character in isolation: one character for all but U+0130, which makes two.
struct Lowered {
  char32_t first;
  char32_t second;  // 0 where there is none
};
Lowered lower_case(char32_t point);

/// True if the capital sigma at text[at] ends a word, where lower case writes it as U+03C2.
bool is_final_sigma(std::string_view text, size_t at);

}  // namespace elias
