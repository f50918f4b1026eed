// A text to the terms that tf-idf counts: n-grams of words, and n-grams of characters inside words.
//
// Tokens are written, lower-cased, into one buffer with a single space between them, so every
// n-gram of neighbours is a slice of that buffer: no string is ever made. What a word is, and what
// lower case and accents are, follows scikit-learn on Python, so features mean the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/term_table.h"

namespace elias {

/// Lengths of n-grams, both ends included; 0 to 0 means none.
struct NgramRange {
  int lowest = 0;
  int highest = 0;

  bool any() const { return highest > 0; }
  bool operator==(const NgramRange&) const = default;
};

/// The tokens of one text. Reused from text to text, it stops allocating.
struct TokenBuffer {
  struct Token {
    size_t begin, end;
  };
  std::vector<char> bytes;  // tokens with single spaces around them, then room to spare
  std::vector<Token> tokens;
};

class Analyser {
 public:
  Analyser(bool lowercase, bool strip_accents);

  /// Words: runs of at least two letters, digits and underscores, as \b\w\w+\b finds them.
  void find_words(std::string_view text, TokenBuffer& out) const;

  /// What stands between white space.
  void find_chunks(std::string_view text, TokenBuffer& out) const;

 private:
  using Table = std::array<unsigned char, 256>;
  bool lowercase_, strip_accents_;
  Table word_table_, chunk_table_;  // what a byte becomes: a gap, "not ASCII" or a byte
};

/// Calls sink(data, size) for every n-gram of neighbours among the first `count` words.
template <typename Sink>
void for_word_ngrams(const TokenBuffer& words, size_t count, NgramRange range, Sink&& sink) {
  count = std::min(count, words.tokens.size());
  const auto lowest = static_cast<size_t>(range.lowest),
             highest = static_cast<size_t>(range.highest);
  for (size_t i = 0; i + lowest <= count; ++i) {
    const size_t begin = words.tokens[i].begin;
    for (size_t n = lowest; n <= highest && i + n <= count; ++n) {
      sink(&words.bytes[begin], words.tokens[i + n - 1].end - begin);
    }
  }
}

/// Calls sink(data, size) for every n-gram of characters of each chunk with one space on either
/// side. A chunk shorter than n counts once, as a whole, as scikit-learn's char_wb has it.
template <typename Sink>
void for_character_ngrams(const TokenBuffer& chunks, NgramRange range, Sink&& sink) {
  std::vector<size_t> starts;  // of characters, and the end
  for (const auto [begin, end] : chunks.tokens) {
    starts.clear();
    for (size_t at = begin - 1; at < end + 1; ++at) {
      if ((static_cast<unsigned char>(chunks.bytes[at]) & 0xC0) != 0x80) starts.push_back(at);
    }
    const size_t length = starts.size();
    starts.push_back(end + 1);
    for (auto n = static_cast<size_t>(range.lowest); n <= static_cast<size_t>(range.highest); ++n) {
      if (n >= length) {
        sink(&chunks.bytes[starts[0]], starts[length] - starts[0]);
        break;
      }
      for (size_t i = 0; i + n <= length; ++i) {
        sink(&chunks.bytes[starts[i]], starts[i + n] - starts[i]);
      }
    }
  }
}

}  // namespace elias
