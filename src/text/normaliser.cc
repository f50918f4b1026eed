#include "text/normaliser.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/errors.h"
#include "text/bert_classes.h"
#include "text/unicode.h"

namespace elias {
namespace {

using Form = NormaliserOptions::Form;

bool is_composed(Form form) { return form == Form::kNfc || form == Form::kNfkc; }
bool is_compatible(Form form) { return form == Form::kNfkc || form == Form::kNfkd; }

int combining_class(int point) { return utf8proc_get_property(point)->combining_class; }

void decompose(char32_t point, bool compatible, std::vector<int>& points) {
  constexpr int kLongest = 32;  // the longest decomposition, U+FDFA's, has 18 characters
  int buffer[kLongest];
  const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  const auto count = utf8proc_decompose_char(static_cast<int>(point), buffer, kLongest,
                                             static_cast<utf8proc_option_t>(options), nullptr);
  ELIAS_ASSERT(count >= 0 && count <= kLongest);
  points.insert(points.end(), buffer, buffer + count);
}

// Sorts each run of marks by combining class, as every normal form demands.
void order_marks(std::vector<int>& points) {
  for (auto begin = points.begin(); begin != points.end();) {
    if (combining_class(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end =
        std::find_if(begin, points.end(), [](int point) { return combining_class(point) == 0; });
    std::stable_sort(begin, end,
                     [](int a, int b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

void append_lower(char32_t point, std::string& out) {
  const Lowered lowered = lower_case(point);
  append_utf8(lowered.first, out);
  if (lowered.second != 0) append_utf8(lowered.second, out);
}

void append_ascii(std::string_view text, bool lower, std::string& out) {
  const size_t begin = out.size();
  out += text;
  if (!lower) return;
  for (size_t i = begin; i < out.size(); ++i) {
    if (out[i] >= 'A' && out[i] <= 'Z') out[i] = static_cast<char>(out[i] + 32);
  }
}

}  // namespace

Normaliser::Normaliser(const NormaliserOptions& options) : options_(options) {
  if (options.strip_accents && (options.form == Form::kNone || is_composed(options.form))) {
    throw InputError("accents can only be stripped from the forms NFD and NFKD");
  }
}

void Normaliser::apply(std::string_view text, std::string& out) const {
  std::vector<int> points;
  while (!text.empty()) {
    const size_t ascii = ascii_prefix(text);
    const size_t plain = ascii == text.size() || ascii == 0 ? ascii : ascii - 1;
    append_ascii(text.substr(0, plain), options_.lower_case, out);
    size_t end = ascii;
    while (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80) ++end;
    apply_stretch(text.substr(plain, end - plain), points, out);
    text.remove_prefix(end);
  }
}

void Normaliser::apply_stretch(std::string_view text, std::vector<int>& points,
                               std::string& out) const {
  points.clear();
  for (size_t at = 0; at < text.size();) {
    const Decoded next = decode_utf8(text, at);
    at += next.bytes;
    if (options_.form == Form::kNone) {
      points.push_back(static_cast<int>(next.point));
    } else {
      decompose(next.point, is_compatible(options_.form), points);
    }
  }
  if (options_.form != Form::kNone) order_marks(points);
  if (is_composed(options_.form)) {
    const auto size = utf8proc_normalize_utf32(
        points.data(), static_cast<utf8proc_ssize_t>(points.size()),
        static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    ELIAS_ASSERT(size >= 0);
    points.resize(static_cast<size_t>(size));
  }
  for (const int value : points) {
    const auto point = static_cast<char32_t>(value);
    if (options_.strip_accents && is_bert_accent(point)) continue;
    if (options_.lower_case) {
      append_lower(point, out);
    } else {
      append_utf8(point, out);
    }
  }
}

}  // namespace elias
