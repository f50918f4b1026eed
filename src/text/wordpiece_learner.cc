#include "text/wordpiece_learner.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

#include "base/errors.h"
#include "text/unicode.h"

namespace elias {
namespace {

constexpr const char* kSpecial[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
constexpr const char* kContinuing = "##";
constexpr size_t kLongestWord = 100;  // in characters: what is longer is [UNK] to a tokeniser

std::vector<std::string_view> characters_of(std::string_view word) {
  std::vector<std::string_view> characters;
  for (size_t at = 0; at < word.size();) {
    const size_t bytes = decode_utf8(word, at).bytes;
    characters.push_back(word.substr(at, bytes));
    at += bytes;
  }
  return characters;
}

/// Two pieces that follow each other.
using Pair = uint64_t;
Pair pair_of(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

class Merger {
 public:
  Merger(const WordPieceLearnerOptions& options, const StringTable& words,
         std::span<const uint64_t> counts)
      : options_(options) {
    const StringTable characters = frequent_characters(words, counts);
    for (const char* token : kSpecial) pieces_.add(token);
    // The alphabet, in an order of its own: what words come first says nothing.
    std::vector<std::string> alphabet;
    for (uint32_t i = 0; i < characters.size(); ++i) {
      alphabet.emplace_back(characters[i]);
      alphabet.push_back(kContinuing + std::string(characters[i]));
    }
    std::ranges::sort(alphabet);
    for (const std::string& piece : alphabet) pieces_.intern(piece);
    if (pieces_.size() > options.size) {
      throw InputError(
          "a vocabulary of {} tokens has no room for {} special ones and the {} of single "
          "characters: raise its size",
          options.size, std::size(kSpecial), pieces_.size() - std::size(kSpecial));
    }
    for (uint32_t word = 0; word < words.size(); ++word) {
      split(words[word], counts[word], characters);
    }
  }

  StringTable merge() {
    for (uint32_t word = 0; word < words_.size(); ++word) count_pairs(word);
    for (const auto& [pair, found] : pairs_) queue_.push({found.count, pair});
    while (pieces_.size() < options_.size && !queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const uint64_t count = pairs_[best.pair].count;
      if (count != best.count) {  // it has changed since it was queued
        if (count >= options_.least_count) queue_.push({count, best.pair});
        continue;
      }
      if (count < options_.least_count) break;
      join(best.pair);
    }
    return std::move(pieces_);
  }

 private:
  struct Word {
    std::vector<uint32_t> pieces;
    uint64_t count;
  };
  struct Found {
    uint64_t count = 0;
    std::vector<uint32_t> words;  // that have, or had, the pair
  };
  struct Candidate {
    uint64_t count;
    Pair pair;
    // Of equals the pair of the earlier pieces is the larger, as the queue's top is.
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  StringTable frequent_characters(const StringTable& words,
                                  std::span<const uint64_t> counts) const {
    StringTable all;
    std::vector<uint64_t> uses;
    for (uint32_t word = 0; word < words.size(); ++word) {
      for (const std::string_view character : characters_of(words[word])) {
        const uint32_t id = all.intern(character);
        uses.resize(std::max<size_t>(uses.size(), id + 1));
        uses[id] += counts[word];
      }
    }
    std::vector<uint32_t> ids(all.size());
    for (uint32_t id = 0; id < ids.size(); ++id) ids[id] = id;
    std::ranges::stable_sort(ids, std::greater(), [&](uint32_t id) { return uses[id]; });
    ids.resize(std::min(ids.size(), options_.most_characters));
    StringTable kept;
    for (const uint32_t id : ids) kept.intern(all[id]);
    return kept;
  }

  /// A word of other characters is [UNK] as a whole, and teaches nothing.
  void split(std::string_view text, uint64_t count, const StringTable& characters) {
    Word word{.pieces = {}, .count = count};
    for (const std::string_view character : characters_of(text)) {
      if (!characters.find(character)) return;
      const std::string piece = (word.pieces.empty() ? "" : kContinuing) + std::string(character);
      word.pieces.push_back(*pieces_.find(piece));
    }
    if (word.pieces.size() > 1 && word.pieces.size() <= kLongestWord) {
      words_.push_back(std::move(word));
    }
  }

  void count_pairs(uint32_t word) {
    const auto& pieces = words_[word].pieces;
    for (size_t i = 1; i < pieces.size(); ++i) {
      Found& found = pairs_[pair_of(pieces[i - 1], pieces[i])];
      found.count += words_[word].count;
      if (found.words.empty() || found.words.back() != word) found.words.push_back(word);
    }
  }

  /// The pair becomes one piece wherever it stands.
  void join(Pair pair) {
    const auto left = static_cast<uint32_t>(pair >> 32), right = static_cast<uint32_t>(pair);
    const std::string_view continuing = kContinuing;
    const std::string text =
        std::string(pieces_[left]) + std::string(pieces_[right].substr(continuing.size()));
    const uint32_t joined = pieces_.intern(text);
    for (const uint32_t word : std::exchange(pairs_[pair].words, {})) {
      rewrite(word, left, right, joined);
    }
    pairs_[pair].count = 0;
  }

  void rewrite(uint32_t id, uint32_t left, uint32_t right, uint32_t joined) {
    Word& word = words_[id];
    std::vector<uint32_t> pieces;
    for (size_t i = 0; i < word.pieces.size(); ++i) {
      const bool here =
          i + 1 < word.pieces.size() && word.pieces[i] == left && word.pieces[i + 1] == right;
      pieces.push_back(here ? joined : word.pieces[i]);
      if (here) ++i;
    }
    if (pieces.size() == word.pieces.size()) return;  // joined with another neighbour before
    for (size_t i = 1; i < word.pieces.size(); ++i) {
      pairs_[pair_of(word.pieces[i - 1], word.pieces[i])].count -= word.count;
    }
    word.pieces = std::move(pieces);
    count_pairs(id);
    for (size_t i = 1; i < word.pieces.size(); ++i) {
      if (word.pieces[i - 1] != joined && word.pieces[i] != joined) continue;
      const Pair pair = pair_of(word.pieces[i - 1], word.pieces[i]);
      queue_.push({pairs_[pair].count, pair});
    }
  }

  const WordPieceLearnerOptions& options_;
  StringTable pieces_;
  std::vector<Word> words_;
  std::unordered_map<Pair, Found> pairs_;  // never gone through where the order would matter
  std::priority_queue<Candidate> queue_;
};

}  // namespace

WordPieceLearner::WordPieceLearner(const WordPieceLearnerOptions& options, ThreadPool& pool)
    : options_(options), pool_(pool) {}

void WordPieceLearner::add(const TextRows& texts) {
  struct Counted {
    StringTable words;
    std::vector<uint64_t> counts;

    void count(std::string_view word, uint64_t times) {
      const uint32_t id = words.intern(word);
      if (id == counts.size()) counts.push_back(0);
      counts[id] += times;
    }
  };
  constexpr size_t kGrain = 4096;
  const BertText normaliser(options_.text);
  std::vector<Counted> chunks(chunk_count(texts.rows(), kGrain));
  pool_.for_chunks(texts.rows(), kGrain, [&](size_t chunk, size_t begin, size_t end) {
    std::string text;
    for (size_t i = begin; i < end; ++i) {
      text.clear();
      normaliser.normalise(texts.row(i), text);
      for (size_t at = 0;;) {
        const std::string_view word = BertText::next_word(text, at);
        if (word.empty()) break;
        chunks[chunk].count(word, 1);
      }
    }
  });
  for (const Counted& chunk : chunks) {
    for (uint32_t id = 0; id < chunk.words.size(); ++id) {
      const uint32_t own = words_.intern(chunk.words[id]);
      if (own == counts_.size()) counts_.push_back(0);
      counts_[own] += chunk.counts[id];
    }
  }
}

WordPieceConfig WordPieceLearner::finish() const {
  if (words_.size() == 0)
    throw InputError("there are no words to learn a vocabulary from: give texts");
  const StringTable pieces = Merger(options_, words_, counts_).merge();
  std::string lines;
  for (uint32_t id = 0; id < pieces.size(); ++id) lines += std::string(pieces[id]) + "\n";
  return parse_vocabulary(lines, "the learned vocabulary", options_.text);
}

}  // namespace elias
