// Options of callers that were built against another version of the header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/errors.h"

namespace elias {

/// A copy with all fields of this version: those that the caller did not know are 0. Throws
/// InputError if the size cannot be, or if the caller set one that is not known here.
template <typename Options>
Options options_of(const Options* given) {
  constexpr size_t kLargest = 4096;
  Options options{};
  if (given == nullptr) return options;
  const size_t size = given->size;
  if (size < sizeof(given->size) || size > kLargest) {
    throw InputError("options.size is {}: set it to the sizeof of the options", size);
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + std::min(size, sizeof options), bytes + size,
                  [](unsigned char byte) { return byte != 0; })) {
    throw InputError(
        "the options set one that libelias {} does not know: leave it 0, or take the "
        "library that the header is of",
        ELIAS_VERSION);
  }
  std::memcpy(&options, given, std::min(size, sizeof options));
  return options;
}

}  // namespace elias
