// Counts terms while a vocabulary is collected: in how many documents, and how often in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/term_table.h"

namespace elias {

class TermCounter {
 public:
  struct Entry {
    uint64_t hash;
    uint64_t offset;  // of its bytes in the counter's
    uint64_t occurrences;
    uint32_t size;
    uint32_t documents;
    uint32_t last_document;  // the one counted last, so that each counts once
  };

  TermCounter() { clear(); }

  /// Counts one occurrence in `document`; calls for one document must follow each other. The bytes
  /// have kTermPadding after them.
  void count(const char* data, size_t size, uint32_t document);

  /// Adds what `other` counted of its `entry`.
  void merge(const TermCounter& other, const Entry& entry);

  /// Forgets everything but keeps the memory.
  void clear();

  const std::vector<Entry>& entries() const { return entries_; }
  std::string_view term(const Entry& entry) const { return {&bytes_[entry.offset], entry.size}; }

 private:
  Entry& entry_of(uint64_t hash, const char* data, size_t size);
  void grow();

  static constexpr uint32_t kNoDocument = 0xffffffff;
  std::string bytes_;  // of all terms, then padding
  std::vector<Entry> entries_;
  std::vector<uint64_t> slots_;  // as in TermTable
};

}  // namespace elias
