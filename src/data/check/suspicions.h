// Signs that a text was damaged before it came to us: valid UTF-8 that no one meant to write.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elias {

enum class Suspicion {
  kReplacement,    // U+FFFD: an earlier conversion gave up on a byte
  kDoubleEncoded,  // UTF-8 read as Latin-1 and encoded again: "Ã©" for "é", "â€™" for a quote
  kControl,        // control characters other than TAB
  kInvisible,      // zero-width characters and byte-order marks inside the text
  kPrivateUse,     // private-use characters: a font's own signs
  kEntity,         // HTML entities such as &amp; that were not decoded
  kCount
};

inline constexpr size_t kSuspicions = static_cast<size_t>(Suspicion::kCount);

/// For tables and messages.
std::string_view suspicion_name(Suspicion suspicion);

/// A bit for each suspicion that `text` (valid UTF-8) gives rise to: 1 << Suspicion.
uint32_t find_suspicions(std::string_view text);

}  // namespace elias
