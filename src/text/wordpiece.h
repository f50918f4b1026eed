// BERT's WordPiece tokeniser: text to ids, the same ones as the Hugging Face library's.
//
// A word becomes the longest piece of the vocabulary it starts with, then the longest continuing
// piece ("##ing"), and so on; a word that cannot be covered becomes [UNK] as a whole. Pieces are
// looked up in two hash tables, of first and of continuing pieces, so no prefix is ever glued on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "data/string_table.h"
#include "data/text_rows.h"
#include "text/added_tokens.h"
#include "text/bert_text.h"

namespace elias {

/// The token ids of many texts.
struct TokenRows {
  std::vector<uint32_t> ids;
  std::vector<uint64_t> offsets{0};  // row i is ids [offsets[i], offsets[i + 1])

  size_t rows() const { return offsets.size() - 1; }
  std::span<const uint32_t> row(size_t i) const {
    return {ids.data() + offsets[i], offsets[i + 1] - offsets[i]};
  }
};

/// Everything a tokenizer.json says that matters here; of pad and mask it says nothing, so their
/// names are BERT's unless they are read from beside it (text/tokenizer_folder.h).
struct WordPieceConfig {
  struct Added {
    AddedToken token;
    bool normalized = false;  // looked for in the normalised text, not in the raw one
    bool special = true;      // no word: left out of texts that are put together again
  };

  BertTextOptions text;
  std::string unk_token = "[UNK]";
  std::string pad_token = "[PAD]";    // which others make texts equally long by
  std::string mask_token = "[MASK]";  // which masked words become; tokens may lack either
  std::string continuing_subword_prefix = "##";
  size_t max_input_chars_per_word = 100;
  TextRows tokens;             // token i is row i
  std::vector<bool> in_model;  // false: an added token that is no piece of words
  std::vector<Added> added;
  std::vector<uint32_t> before;  // ids put before a text: [CLS]
  std::vector<uint32_t> after;   // and after it: [SEP]
};

/// Reads a tokenizer.json (`path` ends in .json) or a vocab.txt, for which `text` says what to do
/// with the text. Throws InputError on a file that is neither or that this class cannot honour.
WordPieceConfig read_wordpiece(const std::string& path, const BertTextOptions& text = {});

/// The same from bytes in memory; `name` stands in messages.
WordPieceConfig parse_tokenizer_json(std::string_view json, const std::string& name);
WordPieceConfig parse_vocabulary(std::string_view lines, const std::string& name,
                                 const BertTextOptions& text);

/// The id of a token, if it is there.
std::optional<uint32_t> find_token(const WordPieceConfig& config, std::string_view token);

/// Which share of the tokens stands for words that the vocabulary has no pieces for.
double unknown_share(const WordPieceConfig& config, const TokenRows& texts);

/// The text of a tokenizer.json that says the same as `config`.
std::string tokenizer_json(const WordPieceConfig& config);

class WordPiece {
 public:
  static constexpr size_t kNoLimit = ~size_t{0};

  /// Throws InputError if the vocabulary lacks `unk_token` or holds a token twice.
  WordPiece(const WordPieceConfig& config, const std::string& name);
  static WordPiece read(const std::string& path, const BertTextOptions& text = {}) {
    return WordPiece(read_wordpiece(path, text), path);
  }

  size_t size() const { return tokens_.rows(); }
  std::string_view token(uint32_t id) const { return tokens_.row(id); }
  size_t special_count() const { return before_.size() + after_.size(); }

  /// Appends the ids of `text`, without [CLS] and [SEP], but no more than `limit`.
  void encode(std::string_view text, std::vector<uint32_t>& ids, size_t limit = kNoLimit) const;

  /// All texts, between [CLS] and [SEP], each cut to `max_length` ids with these (0: not cut).
  /// Throws InputError if there is no room for them.
  TokenRows encode_all(const TextRows& texts, size_t max_length, ThreadPool& pool) const;

 private:
  struct Pieces {
    StringTable texts;
    std::vector<uint32_t> ids;
    size_t longest = 0;  // in bytes
  };

  void add_piece(Pieces& pieces, std::string_view text, uint32_t id) const;
  void encode_plain(std::string_view text, std::vector<uint32_t>& ids, size_t end) const;
  void encode_words(std::string_view normalised, std::vector<uint32_t>& ids, size_t end) const;
  void encode_word(std::string_view word, std::vector<uint32_t>& ids) const;

  BertText text_;
  TextRows tokens_;
  Pieces first_, continuing_;
  AddedTokens raw_, normalised_;
  std::vector<uint32_t> before_, after_;
  uint32_t unk_ = 0;
  size_t longest_word_;  // in characters
};

}  // namespace elias
