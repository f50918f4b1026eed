// Numbers in text, parsed where they stand: the inner loop of every sparse file.
//
// Each function reads at `at`, moves `at` behind what it took, and says whether it found a number.
#pragma once

#include <cmath>
#include <cstdint>

namespace elias {

/// Digits only. False if there is none or the number does not fit 64 bits.
inline bool parse_integer(const char*& at, const char* end, uint64_t& value) {
  const char* start = at;
  uint64_t sum = 0;
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
