#include "text/wordpiece_learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/errors.h"
#include "base/random.h"

namespace elias {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::vector<std::string> pieces_of(const WordPieceConfig& config) {
  std::vector<std::string> pieces;
  for (size_t id = 0; id < config.tokens.rows(); ++id) {
    pieces.emplace_back(config.tokens.row(id));
  }
  return pieces;
}

TextRows rows_of(const std::vector<std::string>& texts) {
  TextRows rows;
  for (const std::string& text : texts) rows.add(text);
  return rows;
}

std::vector<std::string> learn(const std::vector<std::string>& texts,
                               const WordPieceLearnerOptions& options, int threads = 2) {
  ThreadPool pool(threads);
  WordPieceLearner learner(options, pool);
  learner.add(rows_of(texts));
  return pieces_of(learner.finish());
}

// The same, slow and obvious, of words of ASCII letters: all pairs are counted anew each time.
std::vector<std::string> naive(const std::vector<std::string>& words, size_t size,
                               uint64_t least_count) {
  std::vector<std::string> pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::set<std::string> alphabet;
  std::vector<std::vector<std::string>> split;
  for (const std::string& word : words) {
    auto& own = split.emplace_back();
    for (const char letter : word) {
      alphabet.insert({std::string(1, letter), std::string("##") + letter});
      own.push_back((own.empty() ? "" : "##") + std::string(1, letter));
    }
  }
  pieces.insert(pieces.end(), alphabet.begin(), alphabet.end());
  const auto place = [&](const std::string& piece) {
    return std::ranges::find(pieces, piece) - pieces.begin();
  };
  while (pieces.size() < size) {
    std::map<std::pair<int64_t, int64_t>, uint64_t> counts;  // by places: the earlier first
    for (const auto& word : split) {
      for (size_t i = 1; i < word.size(); ++i) ++counts[{place(word[i - 1]), place(word[i])}];
    }
    std::pair<int64_t, int64_t> best;
    uint64_t most = 0;
    for (const auto& [pair, count] : counts) {
      if (count > most) std::tie(best, most) = std::tie(pair, count);
    }
    if (most < least_count) break;
    const std::string left = pieces[static_cast<size_t>(best.first)],
                      right = pieces[static_cast<size_t>(best.second)];
    const std::string joined = left + right.substr(2);
    if (std::ranges::find(pieces, joined) == pieces.end()) pieces.push_back(joined);
    for (auto& word : split) {
      std::vector<std::string> next;
      for (size_t i = 0; i < word.size(); ++i) {
        const bool here = i + 1 < word.size() && word[i] == left && word[i + 1] == right;
        next.push_back(here ? joined : word[i]);
        if (here) ++i;
      }
      word = next;
    }
  }
  return pieces;
}

TEST(WordPieceLearner, JoinsWhatIsMostFrequent) {
  const auto pieces = learn({"low low low lower", "lower newer newer"}, {.size = 19});
  EXPECT_THAT(pieces,
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##e", "##l", "##n", "##o",
                          "##r", "##w", "e", "l", "n", "o", "r", "w", "##ow", "low"));
}

TEST(WordPieceLearner, IsTheNaiveOne) {
  RandomSequence random(3, 0);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> words;
    for (int i = 0; i < 40; ++i) {
      std::string word;
      const uint64_t length = 1 + random.below(8);
      for (uint64_t j = 0; j < length; ++j) {
        word += static_cast<char>('a' + random.below(1 + round % 4));  // "aaaa" too
      }
      words.push_back(word);
    }
    const size_t size = 15 + static_cast<size_t>(round);
    EXPECT_EQ(learn(words, {.size = size}), naive(words, size, 2)) << round;
  }
}

TEST(WordPieceLearner, DoesNotDependOnThreadsOrPieces) {
  std::vector<std::string> texts;
  RandomSequence random(5, 0);
  for (int i = 0; i < 10'000; ++i) {
    std::string text;
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < 5; ++k) text += static_cast<char>('a' + random.below(6));
      text += ' ';
    }
    texts.push_back(text);
  }
  const auto whole = learn(texts, {.size = 300}, 1);
  EXPECT_EQ(whole.size(), 300);
  EXPECT_EQ(learn(texts, {.size = 300}, 3), whole);
  ThreadPool pool(2);
  WordPieceLearner learner({.size = 300}, pool);
  const auto half = texts.begin() + 5'000;
  learner.add(rows_of({texts.begin(), half}));
  learner.add(rows_of({half, texts.end()}));
  EXPECT_EQ(pieces_of(learner.finish()), whole);
}

TEST(WordPieceLearner, RareCharactersAreUnknown) {
  const std::vector<std::string> texts = {"abba abba abba", "zig"};
  const auto pieces = learn(texts, {.size = 100, .most_characters = 2});
  EXPECT_THAT(pieces, Contains("abba"));
  EXPECT_THAT(pieces, Not(Contains("z")));
  ThreadPool pool(1);
  WordPieceLearner learner({.size = 100, .most_characters = 2}, pool);
  learner.add(rows_of(texts));
  const WordPiece wordpiece(learner.finish(), "learned");
  std::vector<uint32_t> ids;
  wordpiece.encode("ABBA zig", ids);
  ASSERT_EQ(ids.size(), 2);
  EXPECT_EQ(wordpiece.token(ids[0]), "abba");
  EXPECT_EQ(wordpiece.token(ids[1]), "[UNK]");
}

TEST(WordPieceLearner, WhatCannotBeLearnedIsRefused) {
  EXPECT_THAT(
      [] {
        learn({"", " \t"}, {});
      },
      testing::ThrowsMessage<InputError>(testing::HasSubstr("there are no words")));
  EXPECT_THAT([] { learn({"abc"}, {.size = 10}); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr(
                  "a vocabulary of 10 tokens has no room for 5 special ones and the 6 of single")));
}

}  // namespace
}  // namespace elias
