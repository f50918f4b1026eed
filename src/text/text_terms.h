// The terms of a text, kind by kind, as fitting and transforming both need them.
#pragma once

#include <string_view>

#include "text/analyser.h"
#include "text/tfidf.h"

namespace elias {

/// Calls use(kind, visit) for every kind of terms that the options have, in their order;
/// visit(sink) calls sink(data, size) for all terms of that kind, whose bytes last until the next
/// kind.
template <typename Use>
void for_term_kinds(const Analyser& analyser, const TfidfOptions& options, std::string_view text,
                    TokenBuffer& tokens, Use&& use) {
  if (options.has(TermKind::kWord)) {
    analyser.find_words(text, tokens);
    use(TermKind::kWord,
        [&](auto&& sink) { for_word_ngrams(tokens, tokens.tokens.size(), options.words, sink); });
    if (options.has(TermKind::kOpening)) {
      use(TermKind::kOpening, [&](auto&& sink) {
        for_word_ngrams(tokens, static_cast<size_t>(options.opening), options.words, sink);
      });
    }
  }
  if (options.has(TermKind::kCharacters)) {
    analyser.find_chunks(text, tokens);
    use(TermKind::kCharacters,
        [&](auto&& sink) { for_character_ngrams(tokens, options.characters, sink); });
  }
}

}  // namespace elias
