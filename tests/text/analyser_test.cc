#include "text/analyser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace elias {
namespace {

using testing::ElementsAre;

std::vector<std::string> words_of(const Analyser& analyser, std::string_view text,
                                  NgramRange range = {1, 1}) {
  TokenBuffer buffer;
  analyser.find_words(text, buffer);
  std::vector<std::string> out;
  for_word_ngrams(buffer, buffer.tokens.size(), range,
                  [&](const char* data, size_t n) { out.emplace_back(data, n); });
  return out;
}

std::vector<std::string> characters_of(const Analyser& analyser, std::string_view text,
                                       NgramRange range) {
  TokenBuffer buffer;
  analyser.find_chunks(text, buffer);
  std::vector<std::string> out;
  for_character_ngrams(buffer, range,
                       [&](const char* data, size_t n) { out.emplace_back(data, n); });
  return out;
}

TEST(Analyser, WordsHaveTwoCharactersOrMore) {
  const Analyser plain(true, false);
  EXPECT_THAT(words_of(plain, "I am A-1 b_2, OK."), ElementsAre("am", "b_2", "ok"));
  EXPECT_THAT(words_of(plain, "é éé ÉCOLE 中 中文"), ElementsAre("éé", "école", "中文"));
  EXPECT_THAT(words_of(plain, ""), ElementsAre());
  EXPECT_THAT(words_of(Analyser(false, false), "Ab cD"), ElementsAre("Ab", "cD"));
}

TEST(Analyser, LowerCaseIsPythons) {
  const Analyser plain(true, false);
  EXPECT_THAT(words_of(plain, "ΟΔΟΣ ΣΑΣ"), ElementsAre("οδος", "σας"));
  // The dot of a lowered capital I with dot is a mark, and a mark ends a word.
  EXPECT_THAT(words_of(plain, "xİstanbul"), ElementsAre("xi", "stanbul"));
  EXPECT_THAT(words_of(Analyser(true, true), "xİstanbul"), ElementsAre("xistanbul"));
}

TEST(Analyser, AccentsAreStripped) {
  EXPECT_THAT(words_of(Analyser(true, true), "École ﬁn e\u0301te\u0301 ½x"),
              ElementsAre("ecole", "fin", "ete", "2x"));
  // One character that becomes four words.
  EXPECT_THAT(words_of(Analyser(true, true), "\uFDFA").size(), 4u);
}

TEST(Analyser, NgramsAreJoinedBySpaces) {
  EXPECT_THAT(words_of(Analyser(true, false), "aa, bb! cc", {1, 3}),
              ElementsAre("aa", "aa bb", "aa bb cc", "bb", "bb cc", "cc"));
  EXPECT_THAT(words_of(Analyser(true, false), "aa bb", {3, 4}), ElementsAre());
}

TEST(Analyser, CharacterNgramsStayInsideWords) {
  const Analyser plain(true, false);
  EXPECT_THAT(characters_of(plain, " Né \x1d b", {3, 4}), ElementsAre(" né", "né ", " né ", " b "));
  EXPECT_THAT(characters_of(plain, "a", {1, 2}), ElementsAre(" ", "a", " ", " a", "a "));
  EXPECT_THAT(characters_of(plain, std::string_view("\0\1", 2), {4, 9}),
              ElementsAre(std::string(" \0\1 ", 4)));
}

}  // namespace
}  // namespace elias
