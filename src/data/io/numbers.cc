#include "data/io/numbers.h"

#include <charconv>
#include <cstdlib>
#include <string>

namespace elias {
namespace {

// 10^0 .. 10^22 are exact doubles, so one multiplication or division by them rounds once.
constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr uint64_t kWholePowersOfTen[] = {1,      10,      100,      1000,     10000,
                                          100000, 1000000, 10000000, 100000000};
constexpr uint64_t kExactDouble = uint64_t{1} << 53;

void take_digits(const char*& p, const char* end, uint64_t& digits) {
  while (p < end && static_cast<unsigned char>(*p - '0') < 10) {
    digits = digits * 10 + static_cast<uint64_t>(*p++ - '0');
  }
}

// Everything the fast path does not take: exponents, many digits, nan, inf.
bool parse_real_slowly(const char*& at, const char* end, float& value) {
  const char* start = at + (at < end && *at == '+');
  double number = 0;
  const auto [rest, error] = std::from_chars(start, end, number);
  if (error == std::errc::invalid_argument || (start > at && start < end && *start == '-')) {
    return false;
  }
  if (error == std::errc::result_out_of_range) {
    // Zero or infinity; from_chars does not say which.
    number = std::strtod(std::string(start, rest).c_str(), nullptr);
  }
  at = rest;
  value = static_cast<float>(number);
  return true;
}

}  // namespace

// Clinger's fast path: up to 2^53 in the digits and up to 19 of them.
bool parse_real(const char*& at, const char* end, float& value) {
  const char* p = at;
  const bool negative = p < end && *p == '-';
  p += negative;
  uint64_t digits = 0;
  const char* const first = p;
  take_digits(p, end, digits);
  const char* const point = p;
  if (p < end && *p == '.') ++p;
  const char* const fraction = p;
  if (end - p >= 8) {
    uint64_t more = 0;
    const unsigned count = parse_up_to_8_digits(p, more);
    digits = digits * kWholePowersOfTen[count] + more;
    p += count;
    if (count == 8) take_digits(p, end, digits);
  } else {
    take_digits(p, end, digits);
  }
  const auto places = static_cast<size_t>(p - fraction);
  const size_t count = static_cast<size_t>(point - first) + places;
  const bool exponent = p < end && (*p == 'e' || *p == 'E');
  if (count == 0 || count > 19 || exponent || digits > kExactDouble) {
    return parse_real_slowly(at, end, value);
  }
  const double number = static_cast<double>(digits) / kPowersOfTen[places];
  value = static_cast<float>(negative ? -number : number);
  at = p;
  return true;
}

}  // namespace elias
