#include "text/unicode.h"

#include <gtest/gtest.h>

namespace elias {
namespace {

TEST(Unicode, EveryCodePointSurvivesEncodingAndDecoding) {
  for (char32_t point = 0; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    std::string text;
    append_utf8(point, text);
    const Decoded back = decode_utf8(text, 0);
    ASSERT_EQ(back.point, point);
    ASSERT_EQ(back.bytes, text.size());
  }
}

TEST(Unicode, WhatIsNoUtf8ReadsAsOneReplacementAByte) {
  for (const std::string text : {"\x80", "\xC0\xAF", "\xC3", "\xE2\x82", "\xED\xA0\x80",
                                 "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    const Decoded first = decode_utf8(text, 0);
    EXPECT_EQ(first.point, kReplacement);
    EXPECT_EQ(first.bytes, 1u);
  }
}

TEST(Unicode, SurrogatesAreWrittenAsTheReplacement) {
  std::string text;
  append_utf8(0xD800, text);
  append_utf8(0x110000, text);
  EXPECT_EQ(text, "\uFFFD\uFFFD");
}

TEST(Unicode, AsciiPrefixEndsAtTheFirstOtherByte) {
  for (size_t size = 0; size < 40; ++size) {
    const std::string ascii(size, 'a');
    EXPECT_EQ(ascii_prefix(ascii), size);
    EXPECT_EQ(ascii_prefix(ascii + "é" + ascii), size);
  }
}

TEST(Unicode, ClassesAndCase) {
  EXPECT_TRUE(is_word_character('_'));
  EXPECT_TRUE(is_word_character(U'ß'));
  EXPECT_TRUE(is_word_character(U'½'));
  EXPECT_FALSE(is_word_character(0x301));
  EXPECT_TRUE(is_mark(0x301));
  EXPECT_TRUE(is_white_space(0x3000));
  EXPECT_FALSE(is_white_space(0x1C));
  EXPECT_EQ(lower_case(U'É').first, U'é');
  EXPECT_EQ(lower_case(0x130).second, char32_t{0x307});
}

TEST(Unicode, ASigmaEndsAWordOrDoesNot) {
  EXPECT_TRUE(is_final_sigma("ΟΣ", 2));
  EXPECT_TRUE(is_final_sigma("ΟΣ.", 2));
  EXPECT_FALSE(is_final_sigma("ΟΣΑ", 2));
  EXPECT_FALSE(is_final_sigma("ΟΣ'Α", 2));
  EXPECT_FALSE(is_final_sigma("Σ", 0));
  EXPECT_FALSE(is_final_sigma(" Σ ", 1));
}

}  // namespace
}  // namespace elias
