#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "tests/temporary_folder.h"
#include "text/wordpiece.h"

namespace elias {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

Json sound() {
  return Json::parse(R"({
    "added_tokens": [
      {"id": 1, "content": "[SEP]", "special": true},
      {"id": 5, "content": "<lone>", "special": true, "single_word": true},
      {"id": 6, "content": "<wide>", "special": true, "lstrip": true, "rstrip": true},
      {"id": 7, "content": "Big Word", "normalized": true}],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                   "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
      "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [0], "tokens": ["[CLS]"]},
                         "[SEP]": {"id": "[SEP]", "ids": [1], "tokens": ["[SEP]"]}}},
    "model": {"type": "WordPiece", "unk_token": "[?]", "continuing_subword_prefix": "@@",
              "max_input_chars_per_word": 4,
              "vocab": {"[CLS]": 0, "[SEP]": 1, "[?]": 2, "a": 3, "@@b": 4}}})");
}

std::vector<uint32_t> ids_of(const Json& json, const std::string& text) {
  std::vector<uint32_t> ids;
  WordPiece(parse_tokenizer_json(json.dump(), "t.json"), "t.json").encode(text, ids);
  return ids;
}

std::string complaint(const std::string& json) {
  try {
    WordPiece(parse_tokenizer_json(json, "t.json"), "t.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(TokenizerJson, SettingsAreHonoured) {
  EXPECT_THAT(ids_of(sound(), "A abb ab\u0301 abbb abbbb"),
              ElementsAre(3, 3, 4, 4, 3, 4, 3, 4, 4, 4, 2));
  Json cased = sound();
  cased["normalizer"]["lowercase"] = false;
  EXPECT_THAT(ids_of(cased, "A a\u0301"), ElementsAre(2, 2));
  cased["normalizer"]["strip_accents"] = true;
  EXPECT_THAT(ids_of(cased, "A a\u0301"), ElementsAre(2, 3));
  Json bare = sound();
  bare["normalizer"] = nullptr;
  EXPECT_THAT(ids_of(bare, "A a"), ElementsAre(2, 3));
}

TEST(TokenizerJson, AddedTokensAreFoundInTheText) {
  EXPECT_THAT(ids_of(sound(), "a[SEP]a"), ElementsAre(3, 1, 3));
  EXPECT_THAT(ids_of(sound(), "<lone> a"), ElementsAre(5, 3));
  EXPECT_THAT(ids_of(sound(), "a<lone>"), ElementsAre(3, 2, 2, 2));
  EXPECT_THAT(ids_of(sound(), "a  <wide>  a"), ElementsAre(3, 6, 3));
  EXPECT_THAT(ids_of(sound(), "a BIG wörd a"), ElementsAre(3, 7, 3));
}

TEST(TokenizerJson, TheTemplateSaysWhatStandsAroundAText) {
  ThreadPool pool(1);
  TextRows texts;
  texts.add("a");
  const auto rows_of = [&](const Json& json) {
    const WordPiece wordpiece(parse_tokenizer_json(json.dump(), "t.json"), "t.json");
    return wordpiece.encode_all(texts, 0, pool).ids;
  };
  EXPECT_THAT(rows_of(sound()), ElementsAre(0, 3, 1));
  Json bert = sound();
  bert["post_processor"] = {
      {"type", "BertProcessing"}, {"sep", {"[SEP]", 1}}, {"cls", {"[CLS]", 0}}};
  EXPECT_THAT(rows_of(bert), ElementsAre(0, 3, 1));
  bert["post_processor"] = nullptr;
  EXPECT_THAT(rows_of(bert), ElementsAre(3));
}

TEST(TokenizerJson, WhatCannotBeHonouredIsRefused) {
  EXPECT_EQ(complaint(sound().dump()), "none");
  const auto with = [](const std::string& pointer, const Json& value) {
    Json json = sound();
    json[Json::json_pointer(pointer)] = value;
    return complaint(json.dump());
  };
  EXPECT_THAT(with("/model/type", "BPE"),
              HasSubstr("t.json: the model is 'BPE': only 'WordPiece'"));
  EXPECT_THAT(with("/normalizer/type", "NFC"), HasSubstr("the normalizer is 'NFC'"));
  EXPECT_THAT(with("/pre_tokenizer/type", "Metaspace"), HasSubstr("the pre_tokenizer is"));
  EXPECT_THAT(with("/pre_tokenizer", nullptr), HasSubstr("the pre_tokenizer is 'null'"));
  EXPECT_THAT(with("/post_processor/type", "ByteLevel"), HasSubstr("the post_processor is"));
  EXPECT_THAT(with("/post_processor/special_tokens/[CLS]/ids/0", 99), HasSubstr("adds the id 99"));
  EXPECT_THAT(with("/model/unk_token", "[NO]"), HasSubstr("lacks '[NO]'"));
  EXPECT_THAT(with("/model/vocab/b", 3), HasSubstr("the id 3 stands for both"));
  EXPECT_THAT(with("/model/vocab/b", 9), HasSubstr("no token has the id 8, but one has 9"));
  EXPECT_THAT(with("/model/vocab/b", -1), HasSubstr("token 'b' has the id '-1'"));
  EXPECT_THAT(with("/model/vocab/b", "x"), HasSubstr("ids are whole numbers"));
  EXPECT_THAT(with("/model/vocab/<wide>", 8), HasSubstr("'<wide>' has two ids"));
  EXPECT_THAT(with("/model/vocab", 7), HasSubstr("t.json"));
  EXPECT_THAT(with("/added_tokens", 7), HasSubstr("t.json: is not a tokenizer.json"));
}

TEST(TokenizerJson, BrokenJsonIsRefused) {
  const std::string whole = sound().dump();
  for (size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THAT(complaint(whole.substr(0, size)), HasSubstr("t.json: is not a tokenizer.json"));
  }
  EXPECT_THAT(complaint("[]"), HasSubstr("t.json"));
  EXPECT_THAT(complaint("{}"), HasSubstr("t.json"));
}

TEST(Vocabulary, LinesAreTokens) {
  TemporaryFolder folder;
  write_file(folder / "v.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\na");
  const WordPiece wordpiece = WordPiece::read(folder / "v.txt");
  EXPECT_EQ(wordpiece.size(), 4u);
  EXPECT_EQ(wordpiece.token(3), "a");
}

TEST(Vocabulary, FaultsAreNamed) {
  const auto complaint_of = [](std::string_view lines) -> std::string {
    try {
      WordPiece(parse_vocabulary(lines, "v.txt", {}), "v.txt");
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(complaint_of("[UNK]\n[CLS]\n[SEP]\n"), "none");
  EXPECT_THAT(complaint_of("[CLS]\n[SEP]\n"), HasSubstr("v.txt: the vocabulary lacks '[UNK]'"));
  EXPECT_THAT(complaint_of("[UNK]\n[SEP]\n"), HasSubstr("lacks '[CLS]'"));
  EXPECT_THAT(complaint_of(""), HasSubstr("lacks"));
  EXPECT_THAT(complaint_of("[UNK]\n[CLS]\n[SEP]\na\na\n"), HasSubstr("'a' has two ids, 3 and 4"));
  EXPECT_THAT(complaint_of("[UNK]\n[CLS]\n[SEP]\n\xE9\n"),
              HasSubstr("v.txt:4: byte 0xe9 at position 1 of the text is not UTF-8"));
}

}  // namespace
}  // namespace elias
