#include "text/term_counter.h"

#include "base/errors.h"

namespace elias {

void TermCounter::count(const char* data, size_t size, uint32_t document) {
  Entry& entry = entry_of(hash_term(data, size), data, size);
  ++entry.occurrences;
  entry.documents += entry.last_document != document;
  entry.last_document = document;
}

void TermCounter::merge(const TermCounter& other, const Entry& entry) {
  Entry& mine = entry_of(entry.hash, &other.bytes_[entry.offset], entry.size);
  mine.occurrences += entry.occurrences;
  mine.documents += entry.documents;
}

void TermCounter::clear() {
  constexpr size_t kFewest = 1024;
  bytes_.assign(kTermPadding, '\0');
  entries_.clear();
  slots_.assign(std::max(kFewest, slots_.size()), 0);
}

TermCounter::Entry& TermCounter::entry_of(uint64_t hash, const char* data, size_t size) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    if (slots_[at] >> 32 != hash >> 32) continue;
    Entry& entry = entries_[static_cast<uint32_t>(slots_[at]) - 1];
    if (entry.size == size && equal_terms(&bytes_[entry.offset], data, size)) return entry;
  }
  ELIAS_ASSERT(size <= UINT32_MAX && entries_.size() < UINT32_MAX - 1);
  const size_t offset = bytes_.size() - kTermPadding;
  bytes_.insert(offset, data, size);
  entries_.push_back({hash, offset, 0, static_cast<uint32_t>(size), 0, kNoDocument});
  slots_[at] = (hash >> 32) << 32 | entries_.size();
  if (2 * entries_.size() > slots_.size()) grow();
  return entries_.back();
}

void TermCounter::grow() {
  slots_.assign(2 * slots_.size(), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t at = entries_[i].hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = (entries_[i].hash >> 32) << 32 | (i + 1);
  }
}

}  // namespace elias
