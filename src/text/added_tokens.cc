#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode.h"

namespace elias {
namespace {

// Where the character that ends before text[at] begins; `at` > 0.
size_t previous(std::string_view text, size_t at) {
  size_t begin = at - 1;
  while (begin > 0 && at - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) {
    --begin;
  }
  return begin;
}

// Here, unlike in Python, a combining mark is part of a word.
bool is_word_part(std::string_view text, size_t at) {
  const char32_t point = decode_utf8(text, at).point;
  return is_word_character(point) || is_mark(point);
}

bool touches_word(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && is_word_part(text, previous(text, begin))) ||
         (end < text.size() && is_word_part(text, end));
}

size_t strip_left(std::string_view text, size_t begin, size_t bound) {
  while (begin > bound) {
    const size_t before = previous(text, begin);
    if (!is_white_space(decode_utf8(text, before).point)) break;
    begin = before;
  }
  return std::max(begin, bound);
}

size_t strip_right(std::string_view text, size_t end) {
  while (end < text.size()) {
    const Decoded next = decode_utf8(text, end);
    if (!is_white_space(next.point)) break;
    end += next.bytes;
  }
  return end;
}

}  // namespace

void AddedTokens::add(AddedToken token) {
  if (token.content.empty()) return;
  starts_token_[static_cast<unsigned char>(token.content.front())] = true;
  const auto place = std::find_if(tokens_.begin(), tokens_.end(), [&](const AddedToken& other) {
    return other.content.size() < token.content.size();
  });
  tokens_.insert(place, std::move(token));
}

const AddedToken* AddedTokens::match_at(std::string_view text) const {
  for (const AddedToken& token : tokens_) {
    if (text.starts_with(token.content)) return &token;
  }
  return nullptr;
}

void AddedTokens::split(std::string_view text, std::vector<Piece>& pieces) const {
  pieces.clear();
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token =
        starts_token_[static_cast<unsigned char>(text[at])] ? match_at(text.substr(at)) : nullptr;
    if (token == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + token->content.size();
    at = end;
    if (token->single_word && touches_word(text, begin, end)) continue;
    if (token->lstrip) begin = strip_left(text, begin, done);
    if (token->rstrip) end = strip_right(text, end);
    if (begin > done) pieces.push_back({text.substr(done, begin - done), std::nullopt});
    pieces.push_back({text.substr(begin, end - begin), token->id});
    done = at = end;
  }
  if (done < text.size()) pieces.push_back({text.substr(done), std::nullopt});
}

}  // namespace elias
