#include "text/unicode.h"

#include <utf8proc.h>

#include <cstring>

namespace elias {
namespace {

constexpr char32_t kLastPoint = 0x10FFFF;
constexpr char32_t kCapitalIWithDot = 0x130;
constexpr char32_t kCombiningDotAbove = 0x307;

bool is_surrogate(char32_t point) { return point >= 0xD800 && point <= 0xDFFF; }

utf8proc_category_t category(char32_t point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

// Word_Break classes that count as case-ignorable although their general category does not say so.
bool is_mid_letter(char32_t point) {
  switch (point) {
    case '\'':
    case '.':
    case ':':
    case 0xB7:
    case 0x387:
    case 0x55F:
    case 0x5F4:
    case 0x2018:
    case 0x2019:
    case 0x2024:
    case 0x2027:
    case 0xFE13:
    case 0xFE52:
    case 0xFE55:
    case 0xFF07:
    case 0xFF0E:
    case 0xFF1A:
      return true;
    default:
      return false;
  }
}

bool is_case_ignorable(char32_t point) {
  switch (category(point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return is_mid_letter(point);
  }
}

bool is_cased(char32_t point) {
  switch (category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      return false;
  }
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

Decoded decode_utf8(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead >= 0xC2 && lead < 0xE0 && tail(1)) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead >= 0xE0 && lead < 0xF0 && tail(1) && tail(2)) {
    const char32_t point = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (point >= 0x800 && !is_surrogate(point)) return {point, 3};
  }
  if (lead >= 0xF0 && lead < 0xF5 && tail(1) && tail(2) && tail(3)) {
    const char32_t point =
        (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    if (point >= 0x10000 && point <= kLastPoint) return {point, 4};
  }
  return {kReplacement, 1};
}

void append_utf8(char32_t point, std::string& out) {
  if (point > kLastPoint || is_surrogate(point)) point = kReplacement;
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

size_t ascii_prefix(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if (word & kHighBits) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

bool is_word_character(char32_t point) {
  switch (category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return point == '_';
  }
}

bool is_mark(char32_t point) {
  const utf8proc_category_t kind = category(point);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC ||
         kind == UTF8PROC_CATEGORY_ME;
}

bool is_white_space(char32_t point) {
  if (point < 0x80) return point == ' ' || (point >= '\t' && point <= '\r');
  return point == 0x85 || point == 0xA0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 ||
         point == 0x202F || point == 0x205F || point == 0x3000;
}

Lowered lower_case(char32_t point) {
  if (point < 0x80) return {point >= 'A' && point <= 'Z' ? point + 32 : point, 0};
  if (point == kCapitalIWithDot) return {'i', kCombiningDotAbove};
  return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))), 0};
}

bool is_final_sigma(std::string_view text, size_t at) {
  const auto before = [&] {
    for (size_t i = at; i > 0;) {
      do --i;
      while (i > 0 && is_continuation(text[i]));
      const char32_t point = decode_utf8(text, i).point;
      if (!is_case_ignorable(point)) return is_cased(point);
    }
    return false;
  };
  const auto after = [&] {
    for (size_t i = at + decode_utf8(text, at).bytes; i < text.size();) {
      const Decoded next = decode_utf8(text, i);
      if (!is_case_ignorable(next.point)) return is_cased(next.point);
      i += next.bytes;
    }
    return false;
  };
  return before() && !after();
}

}  // namespace elias
