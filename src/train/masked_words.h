// Texts with some words masked, which a transformer learns to tell from those around them (BERT,
// Devlin et al. 2019): of all tokens but special ones a share is chosen; of these eight in ten
// become [MASK], one in ten another word, and one stays as it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/wordpiece.h"

namespace elias {

struct MaskedWords {
  TokenRows inputs;             // the texts as they are read
  std::vector<int32_t> places;  // chosen tokens, of all of the batch end to end; rising
  std::vector<int32_t> words;   // what stood there
};

class WordMasker {
 public:
  /// Throws InputError, with `name` in front, if the tokens have no [MASK], or no word.
  WordMasker(const WordPieceConfig& tokens, float share, const std::string& name);

  /// The rows `texts` of `rows`: what is masked is a function of seed and stream.
  MaskedWords mask(const TokenRows& rows, std::span<const uint32_t> texts, uint64_t seed,
                   uint64_t stream) const;

 private:
  std::vector<bool> is_special_;  // by id
  std::vector<uint32_t> words_;   // all others
  uint32_t mask_ = 0;
  float share_;
};

}  // namespace elias
