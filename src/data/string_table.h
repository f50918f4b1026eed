// Strings numbered in the order of their first appearance: label names, vocabularies.
//
// An open-addressing hash table of ids over one TextRows, so a million names are three allocations
// and a look-up touches two cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/text_rows.h"

namespace elias {

class StringTable {
 public:
  size_t size() const { return rows_.rows(); }
  std::string_view operator[](uint32_t id) const { return rows_.row(id); }
  const TextRows& rows() const { return rows_; }

  std::optional<uint32_t> find(std::string_view text) const;

  /// The id of `text`, which is added if it is new.
  uint32_t intern(std::string_view text);

  /// Adds `text` as the next id even if an equal one is there; find() keeps returning the first.
  uint32_t add(std::string_view text);

 private:
  size_t slot_of(std::string_view text) const;
  void grow();

  static constexpr uint32_t kEmpty = 0xffffffff;
  TextRows rows_;
  std::vector<uint32_t> slots_;  // a power of two, at most half full; kEmpty or an id
};

}  // namespace elias
