// Texts with some words masked, which a transformer learns to tell from those around them (BERT,
// Devlin et al. 2019): of all tokens but special ones a share is chosen; of these eight in ten
// become [MASK], one in ten another word, and one stays as it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "text/wordpiece.h"

namespace elias {

/// How few words of a text may be chosen: by chance none, or one where there is a word at all.
enum class FewestMasked : uint8_t { kNone, kOneOfEachText };

struct MaskedWords {
  TokenRows inputs;             // the texts as they are read
  std::vector<int32_t> places;  // chosen tokens, of all of the batch end to end; rising
  std::vector<int32_t> words;   // what stood there
};

class WordMasker {
 public:
  /// Throws InputError, with `name` in front, if the tokens lack mask_token, or have no word.
  WordMasker(const WordPieceConfig& tokens, float share, const std::string& name);

  /// The rows `texts` of `rows`: what is masked is a function of seed and stream.
  MaskedWords mask(const TokenRows& rows, std::span<const uint32_t> texts, uint64_t seed,
                   uint64_t stream, FewestMasked fewest = FewestMasked::kNone) const;

  /// True if a token of the text may be chosen.
  bool has_word(std::span<const uint32_t> text) const;

 private:
  double share_of(std::span<const uint32_t> text, uint64_t place, const Random& random,
                  FewestMasked fewest) const;

  std::vector<bool> is_special_;  // by id
  std::vector<uint32_t> words_;   // all others
  uint32_t mask_ = 0;
  float share_;
};

}  // namespace elias
