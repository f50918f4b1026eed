// Text that fits a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace elias::cli {

inline constexpr size_t kColumns = 80;

/// A name on one line: at most `columns` of it, and nothing that moves the cursor.
std::string clipped(std::string name, size_t columns);

/// Items with commas between them, in lines of at most 80 columns, each with `indent` before it;
/// the first has `start`, which is as long, in its place.
std::string wrapped(const std::vector<std::string>& items, const std::string& indent,
                    const std::string& start = "");

}  // namespace elias::cli
