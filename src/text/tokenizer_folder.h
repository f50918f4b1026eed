// A tokeniser as Hugging Face's save_pretrained leaves it in a folder: tokenizer.json or vocab.txt,
// and beside it what these cannot say, in tokenizer_config.json and special_tokens_map.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/wordpiece.h"

namespace elias {

inline constexpr const char* kTokenizer = "tokenizer.json";
inline constexpr const char* kVocabulary = "vocab.txt";
inline constexpr const char* kTokenizerConfig = "tokenizer_config.json";

struct TokenizerFolder {
  WordPieceConfig words;
  std::optional<int64_t> max_length;  // tokens of a text, if it says so
};

/// Throws InputError if there is no tokeniser, or none that can be honoured.
TokenizerFolder read_tokenizer_folder(const std::string& folder);

/// read_wordpiece() of a file, with what is said beside it: of a vocab.txt how texts are
/// normalised, and the names of pad_token and mask_token.
WordPieceConfig read_wordpiece_in_folder(const std::string& path);

/// The text of a tokenizer_config.json beside a tokenizer.json.
std::string tokenizer_config_text(const WordPieceConfig& words, int64_t max_length);

}  // namespace elias
