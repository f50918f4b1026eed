#include "data/io/numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/random.h"
#include "data/io/utf8.h"

namespace elias {
namespace {

bool parse_whole(const std::string& text, float& value) {
  const char* p = text.data();
  return parse_real(p, text.data() + text.size(), value) && p == text.data() + text.size();
}

// The slow twin: strtod, then to float.
void expect_as_strtod(const std::string& text) {
  float value = 0;
  ASSERT_TRUE(parse_whole(text, value)) << text;
  const auto expected = static_cast<float>(std::strtod(text.c_str(), nullptr));
  EXPECT_EQ(std::memcmp(&value, &expected, sizeof(float)), 0)
      << text << " gives " << value << ", not " << expected;
}

TEST(Numbers, RealAgreesWithStrtod) {
  for (const char* text : {"0",
                           "1",
                           "-1",
                           "0.5",
                           ".5",
                           "5.",
                           "-0",
                           "0.1",
                           "1e5",
                           "1E-5",
                           "1.5e+3",
                           "123456789012345678",
                           "12345678901234567890123",
                           "0.000000000000000000000001",
                           "9007199254740993",
                           "3.4028236e38",
                           "1e-50",
                           "1e-400",
                           "-1e-400",
                           "0.30000001192092896",
                           "16777217",
                           "1.17549435e-38"}) {
    expect_as_strtod(text);
  }
  RandomSequence random(1, 2);
  for (int i = 0; i < 200000; ++i) {
    const double magnitude = std::pow(10.0, 20 * random.uniform() - 10);
    const double number = (random.uniform() - 0.5) * magnitude;
    const auto digits = static_cast<int>(random.below(18));
    expect_as_strtod(fmt::format("{:.{}f}", number, digits));
    expect_as_strtod(fmt::format("{}", static_cast<float>(number)));
  }
}

TEST(Numbers, RealRefusesWhatIsNotANumber) {
  float value = 0;
  for (const char* text :
       {"", "-", "+", ".", "abc", "1x", "0x10", " 1", "1 ", "--1", "+-1", "1..2", "e5", "1,5"}) {
    EXPECT_FALSE(parse_whole(text, value)) << text;
  }
  // Not finite is for the caller to judge.
  for (const char* text : {"nan", "inf", "-inf", "1e400", "Infinity"}) {
    ASSERT_TRUE(parse_whole(text, value)) << text;
    EXPECT_FALSE(std::isfinite(value)) << text;
  }
}

TEST(Numbers, IntegerStopsAtOverflow) {
  const auto parse = [](const std::string& text, uint64_t& value) {
    const char* p = text.data();
    return parse_integer(p, text.data() + text.size(), value) && p == text.data() + text.size();
  };
  uint64_t value = 0;
  EXPECT_TRUE(parse("18446744073709551615", value));
  EXPECT_EQ(value, UINT64_MAX);
  EXPECT_FALSE(parse("18446744073709551616", value));
  EXPECT_FALSE(parse("99999999999999999999999", value));
  EXPECT_FALSE(parse("", value));
  EXPECT_FALSE(parse("-1", value));
  EXPECT_TRUE(parse("007", value));
  EXPECT_EQ(value, 7u);
}

// The obvious decoder, for the twin test.
bool is_valid_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length == 0 || lead > 0xf7 || i + length > text.size()) return false;
    uint32_t code = length == 1 ? lead : lead & (0xff >> (length + 1));
    for (size_t j = 1; j < length; ++j) {
      const auto next = static_cast<unsigned char>(text[i + j]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3f);
    }
    constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      return false;
    }
    i += length;
  }
  return true;
}

TEST(Utf8, AgreesWithTheObviousDecoder) {
  // Every sequence of up to three bytes from the interesting ones, behind 0 to 9 ASCII bytes.
  constexpr unsigned char kBytes[] = {'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                      0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
                                      0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
  for (size_t padding : {0, 1, 7, 9}) {
    for (unsigned char a : kBytes) {
      for (unsigned char b : kBytes) {
        for (unsigned char c : kBytes) {
          for (const char d : {' ', '\x80', '\xbf'}) {
            std::string text(padding, 'x');
            for (unsigned char byte : {a, b, c}) text += static_cast<char>(byte);
            text += d;
            const size_t bad = find_invalid_utf8(text);
            ASSERT_EQ(bad == std::string::npos, is_valid_utf8(text));
            if (bad == std::string::npos) continue;
            EXPECT_TRUE(is_valid_utf8(std::string_view(text).substr(0, bad)));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace elias
