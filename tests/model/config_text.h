// The text of a config.json, edited so that its checksum still holds.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/hash.h"

namespace elias {

// As the format has it: the hash of the text with the checksum's digits as zeros.
inline std::string with_checksum(std::string text) {
  const std::string field = "\"checksum\": \"";
  const size_t digits = text.rfind(field) + field.size();
  text.replace(digits, 16, 16, '0');
  return text.replace(digits, 16, fmt::format("{:016x}", hash_bytes(text)));
}

}  // namespace elias
