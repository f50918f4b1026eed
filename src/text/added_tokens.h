// Tokens that are found in the text itself, before it is cut into words: [SEP], [MASK], ...
//
// The leftmost match wins, among those the longest, and matches do not overlap.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elias {

/// One entry of added_tokens in tokenizer.json.
struct AddedToken {
  std::string content;
  uint32_t id = 0;
  bool single_word = false;  // only where no word character touches it
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // and after it
};

class AddedTokens {
 public:
  /// A piece of a text: a token, or what stands between two.
  struct Piece {
    std::string_view text;
    std::optional<uint32_t> id;
  };

  void add(AddedToken token);
  bool empty() const { return tokens_.empty(); }

  /// Replaces `pieces` with those of `text`, in order; none of them is empty.
  void split(std::string_view text, std::vector<Piece>& pieces) const;

 private:
  const AddedToken* match_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;        // by falling length
  std::array<bool, 256> starts_token_{};  // bytes some token starts with
};

}  // namespace elias
