#include "text/bert_text.h"

#include "text/bert_classes.h"
#include "text/unicode.h"

namespace elias {
namespace {

NormaliserOptions normaliser_options(const BertTextOptions& options) {
  using Form = NormaliserOptions::Form;
  const bool strip = options.strip_accents.value_or(options.lowercase);
  return {strip ? Form::kNfd : Form::kNone, strip, options.lowercase};
}

enum class Class : char { kLetter, kSpace, kPunctuation, kNotAscii };

constexpr int kBytes = 256;

std::array<Class, kBytes> make_classes() {
  std::array<Class, kBytes> classes{};
  for (unsigned byte = 0; byte < kBytes; ++byte) {
    classes[byte] = byte >= 0x80                ? Class::kNotAscii
                    : is_white_space(byte)      ? Class::kSpace
                    : is_bert_punctuation(byte) ? Class::kPunctuation
                                                : Class::kLetter;
  }
  return classes;
}

struct Classified {
  Class kind;
  uint32_t bytes;
};

Classified classify(std::string_view text, size_t at) {
  static const std::array<Class, kBytes> kClasses = make_classes();
  const Class kind = kClasses[static_cast<unsigned char>(text[at])];
  if (kind != Class::kNotAscii) return {kind, 1};
  const Decoded next = decode_utf8(text, at);
  return {is_white_space(next.point)        ? Class::kSpace
          : is_bert_punctuation(next.point) ? Class::kPunctuation
                                            : Class::kLetter,
          next.bytes};
}

}  // namespace

BertText::BertText(const BertTextOptions& options)
    : options_(options), normaliser_(normaliser_options(options)) {
  for (unsigned c = 0; c < ascii_.size(); ++c) {
    dropped_[c] = options.clean_text && is_bert_control(c);
    const bool space = options.clean_text && is_white_space(c);
    ascii_[c] = static_cast<char>(space ? ' ' : options.lowercase ? lower_case(c).first : c);
  }
}

void BertText::normalise(std::string_view text, std::string& out) const {
  std::string cleaned;
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      if (!dropped_[byte]) out += ascii_[byte];
      ++at;
      continue;
    }
    // Characters that clean() drops may stand between marks, so it comes before the normaliser.
    size_t end = at;
    while (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80) ++end;
    cleaned.clear();
    clean(text.substr(at, end - at), cleaned);
    normaliser_.apply(cleaned, out);
    at = end;
  }
}

void BertText::clean(std::string_view text, std::string& out) const {
  for (size_t at = 0; at < text.size();) {
    const Decoded next = decode_utf8(text, at);
    at += next.bytes;
    if (options_.clean_text && is_bert_control(next.point)) continue;
    if (options_.clean_text && is_white_space(next.point)) {
      out += ' ';
    } else if (options_.handle_chinese_chars && is_bert_ideograph(next.point)) {
      out += ' ';
      append_utf8(next.point, out);
      out += ' ';
    } else {
      append_utf8(next.point, out);
    }
  }
}

std::string_view BertText::next_word(std::string_view text, size_t& at) {
  while (at < text.size()) {
    const Classified first = classify(text, at);
    if (first.kind != Class::kSpace) break;
    at += first.bytes;
  }
  const size_t begin = at;
  while (at < text.size()) {
    const Classified next = classify(text, at);
    if (next.kind == Class::kLetter) {
      at += next.bytes;
      continue;
    }
    if (next.kind == Class::kPunctuation && at == begin) at += next.bytes;
    break;
  }
  return text.substr(begin, at - begin);
}

}  // namespace elias
