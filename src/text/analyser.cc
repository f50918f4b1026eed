// The loop that matters is the inner one of Cutter::run: one table look-up and one store a byte.
#include "text/analyser.h"

#include <utf8proc.h>

#include <string>

#include "base/errors.h"
#include "text/unicode.h"

namespace elias {
namespace {

// Entries of the tables that are not bytes to be written.
constexpr unsigned char kGap = 0, kNotAscii = 1;

// The most bytes one character may become, with the gaps it may bring: U+FDFA decomposes into 18.
constexpr size_t kMostBytes = 128;

struct WordRule {
  static bool is_inside(char32_t point) { return is_word_character(point); }
  // At least two characters: more bytes than the first one has.
  static bool keeps(const char* begin, const char* end) {
    const auto lead = static_cast<unsigned char>(*begin);
    return end - begin > (lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
  }
};

struct ChunkRule {
  // Python's white space is Unicode's and four separators of ASCII.
  static bool is_inside(char32_t point) {
    return !is_white_space(point) && !(point >= 0x1C && point <= 0x1F);
  }
  static bool keeps(const char*, const char*) { return true; }
};

template <typename Rule>
std::array<unsigned char, 256> make_table(bool lowercase) {
  std::array<unsigned char, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    const bool inside = byte < 0x80 && Rule::is_inside(byte);
    // The two smallest characters cannot be told from the marks; the slow path takes them.
    if (byte >= 0x80 || (inside && byte <= kNotAscii)) {
      table[byte] = kNotAscii;
    } else if (inside) {
      table[byte] = static_cast<unsigned char>(lowercase ? lower_case(byte).first : byte);
    }
  }
  return table;
}

// Calls sink for every character that `point` becomes without its accents.
template <typename Sink>
void without_accents(char32_t point, Sink&& sink) {
  constexpr int kLongest = 32;
  int parts[kLongest];
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  const auto count =
      utf8proc_decompose_char(static_cast<int>(point), parts, kLongest, options, nullptr);
  ELIAS_ASSERT(count >= 0 && count <= kLongest);
  for (int i = 0; i < count; ++i) {
    if (utf8proc_get_property(parts[i])->combining_class == 0) {
      sink(static_cast<char32_t>(parts[i]));
    }
  }
}

constexpr char32_t kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2;

// Lower case with Python's rule for a sigma that ends a word.
Lowered lower_in_context(char32_t point, std::string_view text, size_t at) {
  if (point == kCapitalSigma && is_final_sigma(text, at)) return {kFinalSigma, 0};
  return lower_case(point);
}

/// Writes the tokens of one text into a buffer.
template <typename Rule>
class Cutter {
 public:
  Cutter(bool lowercase, bool strip_accents, std::string_view text, TokenBuffer& out)
      : lowercase_(lowercase), strip_accents_(strip_accents), text_(text), out_(out) {
    reserve(text.size());
    out.tokens.clear();
    out.bytes[0] = ' ';
    begin_ = end_ = out.bytes.data() + 1;
  }

  void run(const std::array<unsigned char, 256>& table) {
    for (size_t at = 0; at < text_.size();) {
      unsigned char byte = kGap;
      char* end = end_;
      for (; at < text_.size(); ++at) {
        byte = table[static_cast<unsigned char>(text_[at])];
        if (byte <= kNotAscii) break;
        *end++ = static_cast<char>(byte);
      }
      end_ = end;
      if (at == text_.size()) break;
      if (byte == kGap) {
        close();
        ++at;
      } else {
        at += put_character(at);
      }
    }
    close();
  }

 private:
  // Makes room after what is written for `more` bytes, a space at either end and the padding.
  void reserve(size_t more) {
    const size_t begin = begin_ ? static_cast<size_t>(begin_ - out_.bytes.data()) : 0;
    const size_t end = end_ ? static_cast<size_t>(end_ - out_.bytes.data()) : 0;
    const size_t size = end + more + 2 + kTermPadding;
    if (out_.bytes.size() >= size) return;
    out_.bytes.resize(size + size / 2);
    begin_ = out_.bytes.data() + begin;
    end_ = out_.bytes.data() + end;
  }

  void close() {
    if (end_ == begin_) return;
    if (Rule::keeps(begin_, end_)) {
      const char* base = out_.bytes.data();
      out_.tokens.push_back({static_cast<size_t>(begin_ - base), static_cast<size_t>(end_ - base)});
      *end_++ = ' ';
      begin_ = end_;
    }
    end_ = begin_;
  }

  // The slow path: a character of any kind at text[at]. Returns its size there.
  size_t put_character(size_t at) {
    reserve(kMostBytes + text_.size() - at);
    const Decoded next = decode_utf8(text_, at);
    const Lowered lowered =
        lowercase_ ? lower_in_context(next.point, text_, at) : Lowered{next.point, 0};
    put(lowered.first);
    if (lowered.second != 0) put(lowered.second);
    return next.bytes;
  }

  void put(char32_t point) {
    if (strip_accents_) {
      without_accents(point, [&](char32_t bare) { write(bare); });
    } else {
      write(point);
    }
  }

  void write(char32_t point) {
    if (!Rule::is_inside(point)) return close();
    encoded_.clear();
    append_utf8(point, encoded_);
    std::memcpy(end_, encoded_.data(), encoded_.size());
    end_ += encoded_.size();
  }

  bool lowercase_, strip_accents_;
  std::string_view text_;
  TokenBuffer& out_;
  char *begin_ = nullptr, *end_ = nullptr;  // of the open token
  std::string encoded_;
};

}  // namespace

Analyser::Analyser(bool lowercase, bool strip_accents)
    : lowercase_(lowercase),
      strip_accents_(strip_accents),
      word_table_(make_table<WordRule>(lowercase)),
      chunk_table_(make_table<ChunkRule>(lowercase)) {}

void Analyser::find_words(std::string_view text, TokenBuffer& out) const {
  Cutter<WordRule>(lowercase_, strip_accents_, text, out).run(word_table_);
}

void Analyser::find_chunks(std::string_view text, TokenBuffer& out) const {
  Cutter<ChunkRule>(lowercase_, strip_accents_, text, out).run(chunk_table_);
}

}  // namespace elias
