// Text to words the way BERT does it: clean, set ideographs apart, strip accents, lower-case, then
// split at white space and around punctuation.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "text/normaliser.h"

namespace elias {

/// The settings of a BertNormalizer, under their names in tokenizer.json.
struct BertTextOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents = std::nullopt;  // none: as `lowercase`
  bool lowercase = true;
};

class BertText {
 public:
  explicit BertText(const BertTextOptions& options);

  /// Appends the normalised `text` to `out`.
  void normalise(std::string_view text, std::string& out) const;

  /// The next word of a normalised text at or after `at`, which moves past it; empty at the end.
  static std::string_view next_word(std::string_view text, size_t& at);

 private:
  void clean(std::string_view text, std::string& out) const;

  BertTextOptions options_;
  Normaliser normaliser_;
  std::array<char, 128> ascii_{};    // what an ASCII character becomes
  std::array<bool, 128> dropped_{};  // or that it goes
};

}  // namespace elias
