// Plain tables for people: columns aligned, numbers to the right.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elias::cli {

class Table {
 public:
  /// The first column is flush left, the others flush right.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// All rows, indented by two blanks, each with a line end.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// 1234567 as "1,234,567".
std::string grouped(uint64_t number);

/// "1 point", "2 points".
std::string counted(uint64_t number, std::string_view what);

}  // namespace elias::cli
