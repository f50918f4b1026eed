// Writing a tokenizer.json, as wordpiece_file.cc reads it and the tokenizers library does.
#include <nlohmann/json.hpp>

#include "text/wordpiece.h"

namespace elias {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const WordPieceConfig& config, uint32_t id) {
  return std::string(config.tokens.row(id));
}

Json added_tokens(const WordPieceConfig& config) {
  Json all = Json::array();
  for (const WordPieceConfig::Added& added : config.added) {
    all.push_back({{"id", added.token.id},
                   {"content", added.token.content},
                   {"single_word", added.token.single_word},
                   {"lstrip", added.token.lstrip},
                   {"rstrip", added.token.rstrip},
                   {"normalized", added.normalized},
                   {"special", added.special}});
  }
  return all;
}

Json normalizer(const BertTextOptions& text) {
  return {{"type", "BertNormalizer"},
          {"clean_text", text.clean_text},
          {"handle_chinese_chars", text.handle_chinese_chars},
          {"strip_accents", text.strip_accents ? Json(*text.strip_accents) : Json()},
          {"lowercase", text.lowercase}};
}

// [CLS] text [SEP], and of two texts [CLS] one [SEP] other [SEP].
Json post_processor(const WordPieceConfig& config) {
  Json single = Json::array(), pair = Json::array(), tokens = Json::object();
  const auto add = [&](const std::vector<uint32_t>& ids, int type, Json& sequence) {
    for (const uint32_t id : ids) {
      const std::string token = text_of(config, id);
      sequence.push_back({{"SpecialToken", {{"id", token}, {"type_id", type}}}});
      tokens[token] = {{"id", token}, {"ids", {id}}, {"tokens", {token}}};
    }
  };
  const auto add_text = [](const char* name, int type, Json& sequence) {
    sequence.push_back({{"Sequence", {{"id", name}, {"type_id", type}}}});
  };
  add(config.before, 0, single);
  add_text("A", 0, single);
  add(config.after, 0, single);
  pair = single;
  add_text("B", 1, pair);
  add(config.after, 1, pair);
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", pair},
          {"special_tokens", tokens}};
}

Json model(const WordPieceConfig& config) {
  // Each is new (WordPiece refuses what is there twice), so none need be looked for.
  Json::object_t vocabulary;
  for (uint32_t id = 0; id < config.tokens.rows(); ++id) {
    if (!config.in_model[id]) continue;
    static_cast<Json::object_t::Container&>(vocabulary).emplace_back(text_of(config, id), id);
  }
  return {{"type", "WordPiece"},
          {"unk_token", config.unk_token},
          {"continuing_subword_prefix", config.continuing_subword_prefix},
          {"max_input_chars_per_word", config.max_input_chars_per_word},
          {"vocab", std::move(vocabulary)}};
}

}  // namespace

std::string tokenizer_json(const WordPieceConfig& config) {
  const Json json = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added_tokens(config)},
      {"normalizer", normalizer(config.text)},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"post_processor", post_processor(config)},
      {"decoder",
       {{"type", "WordPiece"}, {"prefix", config.continuing_subword_prefix}, {"cleanup", true}}},
      {"model", model(config)}};
  return json.dump(1) + "\n";
}

}  // namespace elias
