// Numbers in text, parsed where they stand: the inner loop of every sparse file.
//
// Each function reads at `at`, moves `at` behind what it took, and says whether it found a number.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace elias {

/// How many of the eight bytes at `at` are digits before the first that is not, and their number.
///
/// All eight at once, in a register: numbers differ in length from one to the next, and a loop over
/// digits would be mispredicted at nearly every end.
inline unsigned parse_up_to_8_digits(const char* at, uint64_t& value) {
  uint64_t digits = 0;
  std::memcpy(&digits, at, 8);
  digits ^= 0x3030303030303030;  // '0'..'9' become 0..9
  // The top bit of each byte that is not 0..9: adding 0x76 reaches it from 10 on.
  const uint64_t others =
      (((digits & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676) | digits) & 0x8080808080808080;
  const unsigned count = others == 0 ? 8 : static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return 0;
  digits <<= 8 * (8 - count);  // zeros in front
  // Neighbours are joined: eight digits, four pairs, two fours, one number.
  digits = (digits & 0x0f0f0f0f0f0f0f0f) * (10 * 256 + 1) >> 8;
  digits = (digits & 0x00ff00ff00ff00ff) * (100 * 65536 + 1) >> 16;
  value = (digits & 0x0000ffff0000ffff) * (10000 * 4294967296 + 1) >> 32;
  return count;
}

/// Digits only. False if there is none or the number does not fit 64 bits.
inline bool parse_integer(const char*& at, const char* end, uint64_t& value) {
  const char* start = at;
  uint64_t sum = 0;
  if (end - at >= 8) {
    at += parse_up_to_8_digits(at, sum);
    if (at - start < 8) {
      value = sum;
      return at > start;
    }
  }
  // 19 digits always fit; the 20th is checked.
  while (at < end && static_cast<unsigned char>(*at - '0') < 10) {
    const auto digit = static_cast<uint64_t>(*at - '0');
    if (at - start >= 19 && sum > (UINT64_MAX - digit) / 10) return false;
    sum = sum * 10 + digit;
    ++at;
  }
  value = sum;
  return at > start;
}

/// A decimal number: the nearest double, rounded to float. Accepts what strtod does, but no
/// hexadecimal and no leading blanks; "nan" and "inf" are read as such, for the caller to refuse.
bool parse_real(const char*& at, const char* end, float& value);

}  // namespace elias
