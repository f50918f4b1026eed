// A tokenizer.json that we write says what the one said that we read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "text/wordpiece.h"

namespace elias {
namespace {

WordPieceConfig every_field() {
  WordPieceConfig config = parse_vocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\n", "v",
                                            {.clean_text = false,
                                             .handle_chinese_chars = false,
                                             .strip_accents = true,
                                             .lowercase = false});
  config.tokens.add("<lone \"word\">");
  config.in_model.push_back(false);
  config.added.push_back({.token = {.content = "<lone \"word\">",
                                    .id = 8,
                                    .single_word = true,
                                    .lstrip = true,
                                    .rstrip = true},
                          .normalized = true,
                          .special = false});
  config.unk_token = "[UNK]";
  config.max_input_chars_per_word = 7;
  return config;
}

void expect_same(const WordPieceConfig& actual, const WordPieceConfig& expected) {
  EXPECT_EQ(actual.text.clean_text, expected.text.clean_text);
  EXPECT_EQ(actual.text.handle_chinese_chars, expected.text.handle_chinese_chars);
  EXPECT_EQ(actual.text.strip_accents, expected.text.strip_accents);
  EXPECT_EQ(actual.text.lowercase, expected.text.lowercase);
  EXPECT_EQ(actual.unk_token, expected.unk_token);
  EXPECT_EQ(actual.continuing_subword_prefix, expected.continuing_subword_prefix);
  EXPECT_EQ(actual.max_input_chars_per_word, expected.max_input_chars_per_word);
  EXPECT_EQ(actual.tokens.bytes, expected.tokens.bytes);
  EXPECT_EQ(actual.tokens.offsets, expected.tokens.offsets);
  EXPECT_EQ(actual.in_model, expected.in_model);
  EXPECT_EQ(actual.before, expected.before);
  EXPECT_EQ(actual.after, expected.after);
  ASSERT_EQ(actual.added.size(), expected.added.size());
  for (size_t i = 0; i < actual.added.size(); ++i) {
    const auto &own = actual.added[i].token, &other = expected.added[i].token;
    EXPECT_EQ(std::tie(own.content, own.id, own.single_word, own.lstrip, own.rstrip),
              std::tie(other.content, other.id, other.single_word, other.lstrip, other.rstrip));
    EXPECT_EQ(actual.added[i].normalized, expected.added[i].normalized);
    EXPECT_EQ(actual.added[i].special, expected.added[i].special);
  }
}

TEST(TokenizerJsonWriter, LosesNothing) {
  const WordPieceConfig config = every_field();
  const std::string text = tokenizer_json(config);
  expect_same(parse_tokenizer_json(text, "t.json"), config);
  EXPECT_EQ(tokenizer_json(parse_tokenizer_json(text, "t.json")), text);
  WordPieceConfig usual = config;
  usual.text = {};
  expect_same(parse_tokenizer_json(tokenizer_json(usual), "t.json"), usual);
}

TEST(TokenizerJsonWriter, HasThePartsThatTheLibraryAsksFor) {
  const auto json = nlohmann::json::parse(tokenizer_json(every_field()));
  EXPECT_EQ(json["model"]["type"], "WordPiece");
  EXPECT_EQ(json["model"]["vocab"].size(), 8);  // without what is only added
  EXPECT_EQ(json["decoder"]["prefix"], "##");
  EXPECT_EQ(json["post_processor"]["pair"].size(), 5);
  EXPECT_EQ(json["post_processor"]["special_tokens"]["[CLS]"]["ids"][0], 2);
}

}  // namespace
}  // namespace elias
