// Numbers and tables as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elias {

/// 1234567 as "1,234,567".
std::string grouped(uint64_t number);

/// "1 point", "1,234 points".
std::string counted(uint64_t number, std::string_view what);

/// 1234567 as "1.2M".
std::string short_count(double count);

/// In GiB or MiB: "1.5 GiB", "606 MiB".
std::string bytes_text(uint64_t bytes);

/// 0.1F as 0.1, not as 0.10000000149011612: the shortest number that is read as the same float.
double shortest(float value);

/// Rows of cells in aligned columns: the first flush left, the others flush right.
class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// All rows, each with `indent` before it and a line end behind it.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace elias
