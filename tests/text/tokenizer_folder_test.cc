#include "text/tokenizer_folder.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kLines = "[UNK]\n[CLS]\n[SEP]\n<pad>\n<mask>\na\n";

class TokenizerFolderTest : public testing::Test {
 protected:
  TokenizerFolderTest() { write("vocab.txt", kLines); }

  void write(const std::string& name, const std::string& text) const {
    write_file(folder_ / name, text);
  }

  TokenizerFolder read() const { return read_tokenizer_folder(folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(TokenizerFolderTest, AVocabularyAloneIsBerts) {
  const TokenizerFolder found = read();
  EXPECT_EQ(found.words.pad_token, "[PAD]");
  EXPECT_EQ(found.words.mask_token, "[MASK]");
  EXPECT_TRUE(found.words.text.lowercase);
  EXPECT_EQ(found.max_length, std::nullopt);
}

TEST_F(TokenizerFolderTest, TokenizerJsonComesFirst) {
  WordPieceConfig other = parse_vocabulary("[UNK]\n[CLS]\n[SEP]\nb\n", "other", {});
  write("tokenizer.json", tokenizer_json(other));
  EXPECT_EQ(read().words.tokens.rows(), 4);
}

TEST_F(TokenizerFolderTest, NamesAreReadFromBesideIt) {
  write("special_tokens_map.json", R"({"pad_token": "<pad>", "mask_token": "<other>"})");
  EXPECT_EQ(read().words.pad_token, "<pad>");
  EXPECT_EQ(read().words.mask_token, "<other>");
  write("tokenizer_config.json",
        R"({"pad_token": null, "mask_token": {"content": "<mask>", "lstrip": true}})");
  EXPECT_EQ(read().words.pad_token, "<pad>");
  EXPECT_EQ(read().words.mask_token, "<mask>");
  write("tokenizer_config.json", R"({"pad_token": 7, "mask_token": {"lstrip": true}})");
  EXPECT_EQ(read().words.mask_token, "<other>");
}

TEST_F(TokenizerFolderTest, LengthIsAWholeNumberOrNone) {
  const auto length = [&](const std::string& value) {
    write("tokenizer_config.json", R"({"model_max_length": )" + value + "}");
    return read().max_length;
  };
  EXPECT_EQ(length("256"), 256);
  EXPECT_EQ(length("1e30"), std::nullopt);
  EXPECT_EQ(length("18446744073709551615"), std::nullopt);
  EXPECT_EQ(length("null"), std::nullopt);
}

TEST_F(TokenizerFolderTest, WhatIsNotJsonIsRefused) {
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    write(name, "{");
    EXPECT_THAT([&] { read(); },
                testing::ThrowsMessage<InputError>(HasSubstr(std::string(name) + ": is not JSON")));
    write(name, "[]");
    EXPECT_NO_THROW(read());
  }
}

// A name of a token that is not there would make theirs add it, beyond the embeddings.
TEST_F(TokenizerFolderTest, OnlyTokensThatAreThereAreNamed) {
  WordPieceConfig words = read().words;
  const auto written = [&] { return json::parse(tokenizer_config_text(words, 64)); };
  EXPECT_EQ(written()["pad_token"], nullptr);
  EXPECT_EQ(written()["mask_token"], nullptr);
  words.pad_token = "<pad>";
  words.mask_token = "<mask>";
  EXPECT_EQ(written()["pad_token"], "<pad>");
  EXPECT_EQ(written()["mask_token"], "<mask>");
  EXPECT_EQ(written()["cls_token"], "[CLS]");
  EXPECT_EQ(written()["sep_token"], "[SEP]");
  EXPECT_EQ(written()["model_max_length"], 64);
  // Types of tokens, which a DistilBERT cannot take, are not made.
  EXPECT_EQ(written()["model_input_names"], json({"input_ids", "attention_mask"}));
}

}  // namespace
}  // namespace elias
