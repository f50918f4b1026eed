// WordPiece over any vocabulary and any text. The input is a vocab.txt, a line of three dashes, and
// the text; every option of the text is taken from the first byte.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/errors.h"
#include "text/wordpiece.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t cut = input.find("\n---\n");
  if (cut == std::string_view::npos) return 0;
  const std::string_view text = input.substr(cut + 5);
  elias::BertTextOptions options;
  options.clean_text = data[0] & 1;
  options.handle_chinese_chars = data[0] & 2;
  options.lowercase = data[0] & 4;
  if (data[0] & 8) options.strip_accents = (data[0] & 16) != 0;
  try {
    const elias::WordPiece wordpiece(
        elias::parse_vocabulary(input.substr(0, cut + 1), "vocabulary", options), "vocabulary");
    std::vector<uint32_t> all, few;
    wordpiece.encode(text, all);
    for (const uint32_t id : all) ELIAS_ASSERT(id < wordpiece.size());
    wordpiece.encode(text, few, 3);
    ELIAS_ASSERT(few.size() == std::min<size_t>(3, all.size()));
    ELIAS_ASSERT(std::equal(few.begin(), few.end(), all.begin()));
  } catch (const elias::InputError&) {
  }
  return 0;
}
