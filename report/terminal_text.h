// Text that fits a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace elias {

inline constexpr size_t kColumns = 80;

/// A name on one line: at most `columns` of it, and nothing that moves the cursor.
std::string clipped(std::string name, size_t columns);

/// A path as one word of a command that is printed to be given: quoted if it has to be.
std::string shell_word(const std::string& path);

/// Items with commas between them, in lines of at most 80 columns, each with `indent` before it;
/// the first has `start`, which is as long, in its place.
std::string wrapped(const std::vector<std::string>& items, const std::string& indent,
                    const std::string& start = "");

}  // namespace elias
