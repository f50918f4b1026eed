#include "text/tokenizer_folder.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "data/io/json_file.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSpecialTokens = "special_tokens_map.json";

std::string path_in(const fs::path& folder, const char* name) { return (folder / name).string(); }

Json json_in(const fs::path& folder, const char* name) {
  return read_json_if_there(path_in(folder, name), "save the tokeniser again");
}

/// A vocab.txt says nothing of case and accents.
BertTextOptions text_options(const Json& config) {
  BertTextOptions options;
  options.lowercase = flag_in(config, "do_lower_case").value_or(true);
  options.handle_chinese_chars = flag_in(config, "tokenize_chinese_chars").value_or(true);
  options.strip_accents = flag_in(config, "strip_accents");
  return options;
}

/// A token is written as its text, or as an object that also says how it is found in texts.
std::optional<std::string> token_in(const Json& json, const char* key) {
  if (auto text = text_in(json, key)) return text;
  return json.contains(key) ? text_in(json.at(key), "content") : std::nullopt;
}

}  // namespace

WordPieceConfig read_wordpiece_in_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const Json config = json_in(folder, kTokenizerConfig), map = json_in(folder, kSpecialTokens);
  WordPieceConfig words = read_wordpiece(path, text_options(config));
  for (const Json* said : {&map, &config}) {  // the later one decides
    words.pad_token = token_in(*said, "pad_token").value_or(words.pad_token);
    words.mask_token = token_in(*said, "mask_token").value_or(words.mask_token);
  }
  return words;
}

TokenizerFolder read_tokenizer_folder(const std::string& folder) {
  std::error_code ignored;
  for (const char* name : {kTokenizer, kVocabulary}) {
    const std::string path = path_in(folder, name);
    if (!fs::is_regular_file(path, ignored)) continue;
    return {.words = read_wordpiece_in_folder(path),
            .max_length = whole_in(json_in(folder, kTokenizerConfig), "model_max_length")};
  }
  throw InputError(
      "{}: has neither {} nor {}: save the model's tokeniser there, in Python: "
      "AutoTokenizer.from_pretrained(MODEL).save_pretrained({})",
      folder, kTokenizer, kVocabulary, shown(folder));
}

std::string tokenizer_config_text(const WordPieceConfig& words, int64_t max_length) {
  // Of a token that is named and not there, theirs would make one beyond the embeddings.
  const auto if_there = [&](const std::string& token) {
    return find_token(words, token) ? Json(token) : Json();
  };
  const auto token = [&](uint32_t id) { return std::string(words.tokens.row(id)); };
  const Json json = {
      {"tokenizer_class", "BertTokenizer"},
      {"do_lower_case", words.text.lowercase},
      {"tokenize_chinese_chars", words.text.handle_chinese_chars},
      {"strip_accents", words.text.strip_accents ? Json(*words.text.strip_accents) : Json()},
      {"model_max_length", max_length},
      // DistilBERT has no types of tokens, and of BERT those that are not given are all 0.
      {"model_input_names", {"input_ids", "attention_mask"}},
      {"unk_token", words.unk_token},
      {"cls_token", token(words.before.front())},
      {"sep_token", words.after.empty() ? Json() : Json(token(words.after.front()))},
      {"pad_token", if_there(words.pad_token)},
      {"mask_token", if_there(words.mask_token)}};
  return json.dump(2) + "\n";
}

}  // namespace elias
