// Learning a WordPiece vocabulary from texts.
//
// Words begin as characters, those after the first marked as continuing, and the pair of neighbours
// that is most frequent becomes a piece of its own, again and again, until there are as many pieces
// as wanted: the training of byte pairs (Sennrich et al. 2016), which WordPiece tokenisers of the
// Hugging Face library are trained by. The same texts give the same vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/string_table.h"
#include "data/text_rows.h"
#include "text/bert_text.h"
#include "text/wordpiece.h"

namespace elias {

struct WordPieceLearnerOptions {
  size_t size = 30'000;            // tokens, special ones among them
  uint64_t least_count = 2;        // of a pair that becomes a piece
  size_t most_characters = 1'000;  // that are pieces, the most frequent: others are [UNK]
  BertTextOptions text = {};
};

class WordPieceLearner {
 public:
  WordPieceLearner(const WordPieceLearnerOptions& options, ThreadPool& pool);

  /// Counts the words of some texts.
  void add(const TextRows& texts);

  /// With [PAD], [UNK], [CLS], [SEP] and [MASK] as the first five. Throws InputError if there are
  /// no words, or the size has no room for these and a character.
  WordPieceConfig finish() const;

 private:
  WordPieceLearnerOptions options_;
  ThreadPool& pool_;
  StringTable words_;
  std::vector<uint64_t> counts_;
};

}  // namespace elias
