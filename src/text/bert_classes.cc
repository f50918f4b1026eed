#include "text/bert_classes.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace elias {
namespace {

struct Range {
  char32_t first, last;
};

// Marks, punctuation and format characters of Unicode 9 to 15, found by asking the peer about every
// code point. Between two of them a range also covers characters of no class at all.
constexpr std::array<Range, 41> kAfterUnicode8 = {{
    {0x61D, 0x61D},     {0x7FD, 0x7FD},     {0x890, 0x8E2},     {0x9FD, 0x9FE},
    {0xA76, 0xA76},     {0xAFA, 0xAFF},     {0xB55, 0xB55},     {0xC04, 0xC3C},
    {0xC77, 0xC77},     {0xC84, 0xC84},     {0xD00, 0xD00},     {0xD3B, 0xD3C},
    {0xD81, 0xD81},     {0xEBA, 0xEBA},     {0xECE, 0xECE},     {0x180F, 0x1886},
    {0x1ABF, 0x1ACE},   {0x1B7D, 0x1B7E},   {0x1DF6, 0x1DFB},   {0x2E43, 0x2E5D},
    {0xA82C, 0xA82C},   {0xA8C5, 0xA8C5},   {0xA8FF, 0xA8FF},   {0xA9BD, 0xA9BD},
    {0x10D24, 0x10F89}, {0x11070, 0x11074}, {0x110C2, 0x110CD}, {0x111C9, 0x111C9},
    {0x111CF, 0x111CF}, {0x1123E, 0x11241}, {0x1133B, 0x1133B}, {0x11438, 0x1145E},
    {0x11660, 0x1166C}, {0x116B9, 0x116B9}, {0x1182F, 0x11FFF}, {0x12FF1, 0x13455},
    {0x16E97, 0x16F4F}, {0x16FE2, 0x16FE4}, {0x1CF00, 0x1CF46}, {0x1E000, 0x1E4EF},
    {0x1E944, 0x1E95F},
}};

// Characters whose category changed since Unicode 8.
constexpr char32_t kCanadianSyllabicsChi = 0x166D;  // was punctuation
constexpr char32_t kHanunooPamudpod = 0x1734;       // was a nonspacing mark
constexpr char32_t kSharadaSandhi = 0x111C9;        // was punctuation

bool came_later(char32_t point) {
  const auto* range = std::lower_bound(kAfterUnicode8.begin(), kAfterUnicode8.end(), point,
                                       [](const Range& r, char32_t p) { return r.last < p; });
  return range != kAfterUnicode8.end() && range->first <= point;
}

utf8proc_category_t category(char32_t point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

}  // namespace

bool is_bert_control(char32_t point) {
  if (point < 0x80) {
    return (point < 0x20 && point != '\t' && point != '\n' && point != '\r') || point == 0x7F;
  }
  switch (category(point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
      return !came_later(point);
    default:
      return point == 0xFFFD;
  }
}

bool is_bert_punctuation(char32_t point) {
  if (point < 0x80) {
    return (point >= '!' && point <= '/') || (point >= ':' && point <= '@') ||
           (point >= '[' && point <= '`') || (point >= '{' && point <= '~');
  }
  switch (category(point)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return !came_later(point);
    default:
      return point == kCanadianSyllabicsChi || point == kSharadaSandhi;
  }
}

bool is_bert_accent(char32_t point) {
  if (point < 0x80) return false;
  if (category(point) == UTF8PROC_CATEGORY_MN) return !came_later(point);
  return point == kHanunooPamudpod;
}

bool is_bert_ideograph(char32_t point) {
  // The sixth range starts where the peer's starts, not where the block of characters does.
  return (point >= 0x4E00 && point <= 0x9FFF) || (point >= 0x3400 && point <= 0x4DBF) ||
         (point >= 0xF900 && point <= 0xFAFF) || (point >= 0x20000 && point <= 0x2A6DF) ||
         (point >= 0x2A700 && point <= 0x2B81F) || (point >= 0x2B920 && point <= 0x2CEAF) ||
         (point >= 0x2F800 && point <= 0x2FA1F);
}

}  // namespace elias
