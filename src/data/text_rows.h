// Many strings in one piece of memory: the texts of points, the names of labels, a vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elias {

struct TextRows {
  std::string bytes;
  std::vector<uint64_t> offsets{0};  // row i is bytes [offsets[i], offsets[i + 1])

  size_t rows() const { return offsets.size() - 1; }
  std::string_view row(size_t i) const {
    return std::string_view(bytes).substr(offsets[i], offsets[i + 1] - offsets[i]);
  }
  void add(std::string_view text) {
    bytes += text;
    offsets.push_back(bytes.size());
  }
  void append(const TextRows& other);
};

}  // namespace elias
