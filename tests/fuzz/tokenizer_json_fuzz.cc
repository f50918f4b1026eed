// Any bytes as a tokenizer.json: read and used, or refused with an InputError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/errors.h"
#include "text/wordpiece.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  try {
    const elias::WordPiece wordpiece(elias::parse_tokenizer_json(json, "t.json"), "t.json");
    std::vector<uint32_t> ids;
    wordpiece.encode("A b [SEP] <x> \xC3\xA9\xE4\xB8\xAD ab", ids);
    for (const uint32_t id : ids) ELIAS_ASSERT(id < wordpiece.size());
  } catch (const elias::InputError&) {
  }
  return 0;
}
