// The terms of a vocabulary in the order of their bytes, and the hash table that finds them.
//
// Everything is a flat array, so a table is used straight from a mapped file. A look-up reads one
// slot, which holds half of the term's hash beside its number, and compares bytes only if that half
// agrees. Term bytes are read eight at a time: whatever is hashed or compared must have
// kTermPadding readable bytes after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace elias {

inline constexpr size_t kTermPadding = 8;

namespace term_bytes {

inline uint64_t load(const char* data) {
  uint64_t word = 0;
  std::memcpy(&word, data, sizeof word);
  return word;
}

/// The first `size` bytes at `data` as a number, 1 <= size <= 8.
inline uint64_t load_tail(const char* data, size_t size) {
  return load(data) & ~uint64_t{0} >> (64 - 8 * size);
}

}  // namespace term_bytes

/// The hash that saved tables are built with: it must never change. `size` >= 1.
inline uint64_t hash_term(const char* data, size_t size) {
  using namespace term_bytes;
  uint64_t hash = size * 0x9E3779B97F4A7C15;
  for (; size > 8; size -= 8, data += 8) hash = mix_bits(hash ^ load(data), 0xD6E8FEB86659FD93);
  return mix_bits(hash ^ load_tail(data, size), 0xA0761D6478BD642F);
}

inline bool equal_terms(const char* a, const char* b, size_t size) {
  using namespace term_bytes;
  for (; size > 8; size -= 8, a += 8, b += 8) {
    if (load(a) != load(b)) return false;
  }
  return load_tail(a, size) == load_tail(b, size);
}

class TermTable {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  TermTable() = default;
  /// Views over arrays that outlive the table and are sound: made by make_slots, or checked.
  TermTable(std::span<const char> bytes, std::span<const uint64_t> offsets,
            std::span<const uint64_t> slots)
      : bytes_(bytes), offsets_(offsets), slots_(slots), mask_(slots.size() - 1) {}

  /// What is wrong with such arrays from a file; empty if no look-up can leave them or go on for
  /// ever.
  static std::optional<std::string> find_fault(std::span<const char> bytes,
                                               std::span<const uint64_t> offsets,
                                               std::span<const uint64_t> slots);

  /// The slots for terms that all differ. `bytes` ends in kTermPadding bytes of no term.
  static std::vector<uint64_t> make_slots(std::span<const char> bytes,
                                          std::span<const uint64_t> offsets);

  size_t size() const { return offsets_.size() - 1; }
  std::string_view operator[](size_t id) const {
    return {bytes_.data() + offsets_[id], offsets_[id + 1] - offsets_[id]};
  }
  std::span<const char> bytes() const { return bytes_; }
  std::span<const uint64_t> offsets() const { return offsets_; }
  std::span<const uint64_t> slots() const { return slots_; }

  /// The number of the term with these bytes and this hash, or kNone.
  uint32_t find(uint64_t hash, const char* data, size_t size) const {
    const uint64_t tag = hash >> 32;
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const uint64_t slot = slots_[at];
      if (slot == 0) return kNone;
      const uint32_t id = static_cast<uint32_t>(slot) - 1;
      if (slot >> 32 == tag && is_term(id, data, size)) return id;
    }
  }

  // The same in steps, for callers that look up many terms at once and want the memory of each to
  // be on its way while they see to the others.
  void prefetch_slot(uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask_]); }
  /// The first term whose hash has the same upper half, most likely the one, or kNone.
  uint32_t guess(uint64_t hash) const {
    size_t at = hash & mask_;
    while (slots_[at] != 0 && slots_[at] >> 32 != hash >> 32) at = (at + 1) & mask_;
    return static_cast<uint32_t>(slots_[at]) - 1;  // an empty slot becomes kNone
  }
  void prefetch_offset(uint32_t id) const { __builtin_prefetch(&offsets_[id]); }
  void prefetch_bytes(uint32_t id) const { __builtin_prefetch(&bytes_[offsets_[id]]); }
  bool is_term(uint32_t id, const char* data, size_t size) const {
    const uint64_t begin = offsets_[id];
    return offsets_[id + 1] - begin == size && equal_terms(&bytes_[begin], data, size);
  }

 private:
  std::span<const char> bytes_;        // all terms, then padding
  std::span<const uint64_t> offsets_;  // term i is bytes [offsets[i], offsets[i + 1])
  std::span<const uint64_t> slots_;    // 0, or the hash's upper half and 1 + the term's number
  size_t mask_ = 0;
};

}  // namespace elias
