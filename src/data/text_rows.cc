#include "data/text_rows.h"

namespace elias {

void TextRows::append(const TextRows& other) {
  const uint64_t shift = bytes.size();
  bytes += other.bytes;
  for (size_t i = 1; i < other.offsets.size(); ++i) offsets.push_back(shift + other.offsets[i]);
}

}  // namespace elias
