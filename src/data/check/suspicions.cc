#include "data/check/suspicions.h"

namespace elias {
namespace {

uint32_t bit(Suspicion suspicion) { return 1u << static_cast<uint32_t>(suspicion); }

unsigned byte_at(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
}

// "&name;" or "&#123;" with a name of 2 to 8 letters and digits.
bool is_entity(std::string_view text) {
  size_t i = 1;
  if (byte_at(text, i) == '#') ++i;
  const size_t start = i;
  while (i < text.size() && i < start + 8 &&
         ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
          (text[i] >= '0' && text[i] <= '9'))) {
    ++i;
  }
  return i >= start + 2 && byte_at(text, i) == ';';
}

// Looks at the character at the start of `text`, whose first byte is 0x80 or more.
uint32_t look_at_wide(std::string_view text) {
  const unsigned b0 = byte_at(text, 0), b1 = byte_at(text, 1), b2 = byte_at(text, 2);
  if (b0 == 0xc2 && b1 < 0xa0) return bit(Suspicion::kControl);  // U+0080..U+009F
  // "Ã" or "Â" and a character of U+0080..U+00BF: the two bytes of one Latin letter.
  if (b0 == 0xc3 && (b1 == 0x83 || b1 == 0x82) && b2 == 0xc2) {
    return bit(Suspicion::kDoubleEncoded);
  }
  // "â€": the first two bytes of a dash or a quotation mark in Windows-1252.
  if (text.starts_with("\xc3\xa2\xe2\x82\xac")) return bit(Suspicion::kDoubleEncoded);
  if (b0 == 0xef && b1 == 0xbf && b2 == 0xbd) return bit(Suspicion::kReplacement);
  if (b0 == 0xef && b1 == 0xbb && b2 == 0xbf) return bit(Suspicion::kInvisible);
  if (b0 == 0xe2 && b1 == 0x80 && b2 >= 0x8b && b2 <= 0x8f) return bit(Suspicion::kInvisible);
  if (b0 == 0xee || (b0 == 0xef && b1 <= 0xa3)) return bit(Suspicion::kPrivateUse);
  return 0;
}

}  // namespace

std::string_view suspicion_name(Suspicion suspicion) {
  switch (suspicion) {
    case Suspicion::kReplacement:
      return "replacement characters";
    case Suspicion::kDoubleEncoded:
      return "text encoded twice";
    case Suspicion::kControl:
      return "control characters";
    case Suspicion::kInvisible:
      return "invisible characters";
    case Suspicion::kPrivateUse:
      return "private-use characters";
    case Suspicion::kEntity:
      return "HTML entities";
    case Suspicion::kCount:
      break;
  }
  return "";
}

uint32_t find_suspicions(std::string_view text) {
  uint32_t found = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0xc2) {
      found |= look_at_wide(text.substr(i));
    } else if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) {
      found |= bit(Suspicion::kControl);
    } else if (byte == '&' && is_entity(text.substr(i))) {
      found |= bit(Suspicion::kEntity);
    }
  }
  return found;
}

}  // namespace elias
