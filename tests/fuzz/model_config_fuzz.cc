// Any bytes as a model's config.json. The checksum is made to fit first, as it would keep
// everything that is not a copy of a seed from the checks behind it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/errors.h"
#include "base/hash.h"
#include "model/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kField = "\"checksum\": \"";
  constexpr size_t kDigits = 16;
  std::string text(reinterpret_cast<const char*>(data), size);
  const size_t field = text.rfind(kField);
  if (field != std::string::npos && field + kField.size() + kDigits <= text.size()) {
    const size_t digits = field + kField.size();
    text.replace(digits, kDigits, kDigits, '0');
    text.replace(digits, kDigits, fmt::format("{:016x}", elias::hash_bytes(text)));
  }
  try {
    const elias::ModelConfig config = elias::parse_config(text, "fuzzed");
    const std::string again = elias::config_text(config);
    ELIAS_ASSERT(elias::config_text(elias::parse_config(again, "written")) == again);
  } catch (const elias::InputError&) {
  }
  return 0;
}
