#include "data/string_table.h"

#include <algorithm>

#include "base/errors.h"
#include "base/hash.h"

namespace elias {

size_t StringTable::slot_of(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_bytes(text) & mask;
  while (slots_[slot] != kEmpty && rows_.row(slots_[slot]) != text) slot = (slot + 1) & mask;
  return slot;
}

std::optional<uint32_t> StringTable::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const uint32_t id = slots_[slot_of(text)];
  return id == kEmpty ? std::nullopt : std::optional(id);
}

uint32_t StringTable::intern(std::string_view text) {
  const auto known = find(text);
  return known ? *known : add(text);
}

uint32_t StringTable::add(std::string_view text) {
  if (2 * (size() + 1) > slots_.size()) grow();
  ELIAS_ASSERT(size() < kEmpty);
  const auto id = static_cast<uint32_t>(size());
  const size_t slot = slot_of(text);
  if (slots_[slot] == kEmpty) slots_[slot] = id;
  rows_.add(text);
  return id;
}

void StringTable::grow() {
  slots_.assign(std::max<size_t>(16, 2 * slots_.size()), kEmpty);
  for (uint32_t id = 0; id < size(); ++id) {
    const size_t slot = slot_of(rows_.row(id));
    if (slots_[slot] == kEmpty) slots_[slot] = id;
  }
}

}  // namespace elias
