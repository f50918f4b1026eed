// How BERT's tokeniser, as the Hugging Face library runs it, sorts characters.
//
// Its category tables are those of Unicode 8 (its lower case and white space are current), so a
// mark, a punctuation sign or a format character that came later is an ordinary character to every
// model trained with it. utf8proc knows Unicode 15; what came in between is listed in the source.
#pragma once

namespace elias {

/// Removed when text is cleaned: control (but not TAB, LF, CR), format and private use characters,
/// NUL and U+FFFD.
bool is_bert_control(char32_t point);

/// A word of its own: P* and all ASCII signs.
bool is_bert_punctuation(char32_t point);

/// Dropped when accents are stripped: Mn.
bool is_bert_accent(char32_t point);

/// Ideographs, which become words of their own.
bool is_bert_ideograph(char32_t point);

}  // namespace elias
