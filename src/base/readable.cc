#include "base/readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace elias {
namespace {

// Columns a UTF-8 text takes on a terminal, near enough: one a code point.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string counted(uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

std::string short_count(double count) {
  constexpr const char* kSuffixes[] = {"", "k", "M", "G", "T"};
  size_t step = 0;
  while (count >= 999.5 && step + 1 < std::size(kSuffixes)) {
    count /= 1000;
    ++step;
  }
  return step == 0 || count >= 99.5 ? fmt::format("{:.0f}{}", count, kSuffixes[step])
                                    : fmt::format("{:.1f}{}", count, kSuffixes[step]);
}

std::string bytes_text(uint64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  return mebibytes < 1000 ? fmt::format("{:.0f} MiB", std::max(1.0, mebibytes))
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
}

double shortest(float value) { return std::stod(fmt::format("{}", value)); }

std::string Table::text(std::string_view indent) const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace elias
