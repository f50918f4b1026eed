#include "text/term_table.h"

#include <bit>

#include "base/errors.h"

namespace elias {

std::vector<uint64_t> TermTable::make_slots(std::span<const char> bytes,
                                            std::span<const uint64_t> offsets) {
  const size_t terms = offsets.size() - 1;
  ELIAS_ASSERT(terms < kNone - 1);
  std::vector<uint64_t> slots(std::bit_ceil(2 * terms + 1));
  const size_t mask = slots.size() - 1;
  for (size_t id = 0; id < terms; ++id) {
    const uint64_t hash = hash_term(&bytes[offsets[id]], offsets[id + 1] - offsets[id]);
    size_t at = hash & mask;
    while (slots[at] != 0) at = (at + 1) & mask;
    slots[at] = (hash >> 32) << 32 | (id + 1);
  }
  return slots;
}

std::optional<std::string> TermTable::find_fault(std::span<const char> bytes,
                                                 std::span<const uint64_t> offsets,
                                                 std::span<const uint64_t> slots) {
  if (offsets.empty() || offsets.front() != 0 || bytes.size() < kTermPadding ||
      offsets.back() != bytes.size() - kTermPadding) {
    return "the terms do not fill their bytes";
  }
  const size_t terms = offsets.size() - 1;
  bool rising = true;
  for (size_t i = 0; i < terms; ++i) rising &= offsets[i] < offsets[i + 1];
  if (!rising) return "a term is empty or out of order";
  if (!std::has_single_bit(slots.size()) || slots.size() <= terms) {
    return fmt::format("{} terms cannot have a table of {} slots", terms, slots.size());
  }
  // As many slots taken as there are terms leaves some empty, at which every search ends.
  size_t taken = 0;
  uint32_t largest = 0;
  for (const uint64_t slot : slots) {
    taken += slot != 0;
    const auto number = static_cast<uint32_t>(slot);
    largest = std::max(largest, slot != 0 && number == 0 ? kNone : number);
  }
  if (taken != terms || largest > terms) return "its hash table does not fit its terms";
  return std::nullopt;
}

}  // namespace elias
