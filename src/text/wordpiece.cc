#include "text/wordpiece.h"

#include <algorithm>

#include "base/errors.h"

namespace elias {
namespace {

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool starts_character(std::string_view text, size_t at) {
  return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

// Long texts are normalised in blocks, so that one that is cut to a few ids is not read to its end.
// A block ends before a space: nothing that happens to a character looks across one.
std::string_view next_block(std::string_view text) {
  constexpr size_t kBlock = 1024;
  return text.substr(0, text.size() < kBlock ? text.size() : text.find(' ', kBlock));
}

}  // namespace

WordPiece::WordPiece(const WordPieceConfig& config, const std::string& name)
    : text_(config.text),
      tokens_(config.tokens),
      before_(config.before),
      after_(config.after),
      longest_word_(config.max_input_chars_per_word) {
  const std::string& prefix = config.continuing_subword_prefix;
  StringTable seen;
  for (uint32_t id = 0; id < size(); ++id) {
    const std::string_view token = tokens_.row(id);
    if (const uint32_t other = seen.intern(token); other != id) {
      throw InputError("{}: the token {} has two ids, {} and {}: remove one of them", name,
                       shown(token), other, id);
    }
    if (!config.in_model[id]) continue;
    add_piece(first_, token, id);
    if (token.starts_with(prefix)) add_piece(continuing_, token.substr(prefix.size()), id);
  }
  const auto unk = first_.texts.find(config.unk_token);
  if (!unk) {
    throw InputError("{}: the vocabulary lacks {}, the token of unknown words: add it", name,
                     shown(config.unk_token));
  }
  unk_ = first_.ids[*unk];
  for (WordPieceConfig::Added added : config.added) {
    if (added.normalized) {
      std::string content;
      text_.normalise(added.token.content, content);
      added.token.content = content;
    }
    (added.normalized ? normalised_ : raw_).add(added.token);
  }
}

void WordPiece::add_piece(Pieces& pieces, std::string_view text, uint32_t id) const {
  pieces.texts.add(text);
  pieces.ids.push_back(id);
  pieces.longest = std::max(pieces.longest, text.size());
}

void WordPiece::encode(std::string_view text, std::vector<uint32_t>& ids, size_t limit) const {
  const size_t end = limit == kNoLimit ? kNoLimit : ids.size() + limit;
  std::vector<AddedTokens::Piece> pieces;
  raw_.split(text, pieces);
  for (const auto& piece : pieces) {
    if (ids.size() >= end) break;
    if (piece.id) {
      ids.push_back(*piece.id);
    } else {
      encode_plain(piece.text, ids, end);
    }
  }
  if (ids.size() > end) ids.resize(end);
}

void WordPiece::encode_plain(std::string_view text, std::vector<uint32_t>& ids, size_t end) const {
  std::string normalised;
  std::vector<AddedTokens::Piece> pieces;
  while (!text.empty() && ids.size() < end) {
    // A token that is looked for in normalised text may hold spaces: then there is one block.
    const std::string_view block = normalised_.empty() ? next_block(text) : text;
    text.remove_prefix(block.size());
    normalised.clear();
    text_.normalise(block, normalised);
    if (normalised_.empty()) {
      encode_words(normalised, ids, end);
      continue;
    }
    normalised_.split(normalised, pieces);
    for (const auto& piece : pieces) {
      if (piece.id) {
        ids.push_back(*piece.id);
      } else {
        encode_words(piece.text, ids, end);
      }
    }
  }
}

void WordPiece::encode_words(std::string_view normalised, std::vector<uint32_t>& ids,
                             size_t end) const {
  for (size_t at = 0; ids.size() < end;) {
    const std::string_view word = BertText::next_word(normalised, at);
    if (word.empty()) break;
    encode_word(word, ids);
  }
}

void WordPiece::encode_word(std::string_view word, std::vector<uint32_t>& ids) const {
  const size_t known = ids.size();
  if (word.size() > longest_word_ && count_characters(word) > longest_word_) {
    ids.push_back(unk_);
    return;
  }
  const Pieces* pieces = &first_;
  while (!word.empty()) {
    size_t length = std::min(word.size(), pieces->longest);
    std::optional<uint32_t> found;
    for (; length > 0; --length) {
      if (!starts_character(word, length)) continue;
      found = pieces->texts.find(word.substr(0, length));
      if (found) break;
    }
    if (!found) {
      ids.resize(known);
      ids.push_back(unk_);
      return;
    }
    ids.push_back(pieces->ids[*found]);
    word.remove_prefix(length);
    pieces = &continuing_;
  }
}

TokenRows WordPiece::encode_all(const TextRows& texts, size_t max_length, ThreadPool& pool) const {
  if (max_length != 0 && max_length < special_count()) {
    throw InputError("a maximum length of {} has no room for the {} special tokens: raise it",
                     max_length, special_count());
  }
  const size_t limit = max_length == 0 ? kNoLimit : max_length - special_count();
  constexpr size_t kGrain = 64;
  std::vector<TokenRows> chunks(chunk_count(texts.rows(), kGrain));
  pool.for_chunks(texts.rows(), kGrain, [&](size_t chunk, size_t begin, size_t end) {
    TokenRows& out = chunks[chunk];
    for (size_t i = begin; i < end; ++i) {
      out.ids.insert(out.ids.end(), before_.begin(), before_.end());
      encode(texts.row(i), out.ids, limit);
      out.ids.insert(out.ids.end(), after_.begin(), after_.end());
      out.offsets.push_back(out.ids.size());
    }
  });
  TokenRows all;
  for (const TokenRows& chunk : chunks) {
    const uint64_t shift = all.ids.size();
    all.ids.insert(all.ids.end(), chunk.ids.begin(), chunk.ids.end());
    for (size_t i = 1; i <= chunk.rows(); ++i) all.offsets.push_back(shift + chunk.offsets[i]);
  }
  return all;
}

}  // namespace elias
