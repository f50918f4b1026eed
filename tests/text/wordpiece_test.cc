#include "text/wordpiece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/random.h"

namespace elias {
namespace {

using testing::ElementsAre;

const std::string kCases = ELIAS_TEXT_CASES;

std::vector<std::string> tokens_of(const WordPiece& wordpiece, std::string_view text) {
  std::vector<uint32_t> ids;
  wordpiece.encode(text, ids);
  std::vector<std::string> tokens;
  for (const uint32_t id : ids) tokens.emplace_back(wordpiece.token(id));
  return tokens;
}

WordPiece small(const BertTextOptions& text = {}) {
  return WordPiece::read(kCases + "/wordpiece_vocab.txt", text);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(WordPiece, Cases) {
  const WordPiece wordpiece = small();
  const auto cases = nlohmann::json::parse(read_text(kCases + "/wordpiece_cases.json"));
  ASSERT_GT(cases.size(), 10u);
  for (const auto& entry : cases) {
    EXPECT_EQ(tokens_of(wordpiece, entry[0].get<std::string>()),
              entry[1].get<std::vector<std::string>>())
        << entry[0];
  }
}

TEST(WordPiece, TextOptions) {
  EXPECT_THAT(tokens_of(small({.lowercase = false}), "The école"), ElementsAre("[UNK]", "[UNK]"));
  EXPECT_THAT(tokens_of(small({.strip_accents = true, .lowercase = false}), "école x"),
              ElementsAre("ecole", "x"));
  EXPECT_THAT(tokens_of(small({.strip_accents = false}), "École X"), ElementsAre("[UNK]", "x"));
  EXPECT_THAT(tokens_of(small({.handle_chinese_chars = false}), "中文"), ElementsAre("[UNK]"));
  EXPECT_THAT(tokens_of(small({.clean_text = false}), "a\x01 a\ta"),
              ElementsAre("[UNK]", "a", "a"));
}

TEST(WordPiece, CutsToTheMaximumLengthWithSpecialTokens) {
  const WordPiece wordpiece = small();
  ThreadPool pool(2);
  TextRows texts;
  texts.add("the token , a");
  texts.add("");
  const TokenRows rows = wordpiece.encode_all(texts, 5, pool);
  EXPECT_THAT(rows.row(0), ElementsAre(2, 5, 11, 20, 3));
  EXPECT_THAT(rows.row(1), ElementsAre(2, 3));
  EXPECT_THAT(wordpiece.encode_all(texts, 2, pool).row(0), ElementsAre(2, 3));
  EXPECT_EQ(wordpiece.encode_all(texts, 0, pool).row(0).size(), 6u);
  EXPECT_THROW(wordpiece.encode_all(texts, 1, pool), InputError);
}

TEST(WordPiece, TellsWhichShareOfTokensIsUnknown) {
  const WordPieceConfig config = read_wordpiece(kCases + "/wordpiece_vocab.txt");
  ThreadPool pool(1);
  TextRows texts;
  texts.add("the школа");
  texts.add("a the");
  const TokenRows rows = WordPiece(config, "words").encode_all(texts, 0, pool);
  EXPECT_EQ(rows.ids.size(), 8u);  // [CLS] and [SEP] are of both
  EXPECT_EQ(unknown_share(config, rows), 1.0 / 8);
  EXPECT_EQ(unknown_share(config, {}), 0);
}

// A limit must give the start of what no limit gives, also where the text is read in blocks.
TEST(WordPiece, ALimitGivesAPrefixAndThreadsDoNotMatter) {
  const WordPiece wordpiece = small();
  RandomSequence random(5, 1);
  constexpr std::string_view kPool[] = {"the ",   "unaffable", " ",      "É",
                                        "\u0301", "中",        "[MASK]", "x"};
  TextRows texts;
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (uint64_t n = random.below(600); n > 0; --n) text += kPool[random.below(std::size(kPool))];
    texts.add(text);
  }
  ThreadPool one(1), many(7);
  const TokenRows full = wordpiece.encode_all(texts, 0, one);
  EXPECT_EQ(wordpiece.encode_all(texts, 0, many).ids, full.ids);
  for (size_t i = 0; i < texts.rows(); ++i) {
    std::vector<uint32_t> ids;
    wordpiece.encode(texts.row(i), ids, 20);
    const auto whole = full.row(i);
    ASSERT_LE(ids.size(), 20u);
    ASSERT_TRUE(std::equal(ids.begin(), ids.end(), whole.begin() + 1));
    ASSERT_TRUE(ids.size() == 20 || ids.size() + 2 == whole.size());
  }
}

// BERT's own vocabulary and conformance cases are too large to ship: a folder holds them.
TEST(WordPiece, AgreesOnBertsCases) {
  const char* given = std::getenv("ELIAS_BERT_VOCAB");
  if (given == nullptr) GTEST_SKIP() << "set ELIAS_BERT_VOCAB to the folder that holds them";
  const std::string folder = given;
  const WordPiece from_text = WordPiece::read(folder + "/bert-base-uncased-vocab.txt");
  const WordPiece from_json = WordPiece::read(folder + "/tokenizer.json");
  ASSERT_EQ(from_text.size(), 30522u);
  ASSERT_EQ(from_json.size(), 30522u);

  constexpr std::string_view kSeparator = "\n__ggml_vocab_test__\n";
  std::string input = read_text(folder + "/wordpiece-cases.inp");
  std::ifstream expected(folder + "/wordpiece-cases.out");
  size_t count = 0;
  for (std::string line; std::getline(expected, line); ++count) {
    const size_t end = input.find(kSeparator);
    ASSERT_NE(end, std::string::npos);
    std::istringstream numbers(line);
    const std::vector<uint32_t> wanted(std::istream_iterator<uint32_t>(numbers), {});
    for (const WordPiece* wordpiece : {&from_text, &from_json}) {
      std::vector<uint32_t> ids;
      wordpiece->encode(input.substr(0, end), ids);
      EXPECT_EQ(ids, wanted) << input.substr(0, end);
    }
    input.erase(0, end + kSeparator.size());
  }
  EXPECT_EQ(count, 46u);
  EXPECT_EQ(input, "");
}

}  // namespace
}  // namespace elias
