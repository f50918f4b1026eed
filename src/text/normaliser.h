// Unicode normal forms, accent stripping and lower case, in that order.
//
// Work is done in stretches of one ASCII character and the non-ASCII ones after it: no ASCII
// character ever joins what stands before it, so stretches are independent and ASCII text is
// copied. Marks are ordered by a real sort: a megabyte of accents takes no longer than letters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace elias {

struct NormaliserOptions {
  enum class Form { kNone, kNfc, kNfkc, kNfd, kNfkd } form = Form::kNone;
  bool strip_accents = false;  // drop nonspacing marks, as BERT does; needs a decomposed form
  bool lower_case = false;     // each character by itself: a capital sigma never becomes final
};

class Normaliser {
 public:
  /// Throws InputError if accents are to be stripped from a composed form.
  explicit Normaliser(const NormaliserOptions& options);

  /// Appends the normal form of `text` to `out`. Bytes that are not UTF-8 become U+FFFD.
  void apply(std::string_view text, std::string& out) const;

 private:
  void apply_stretch(std::string_view text, std::vector<int>& points, std::string& out) const;

  NormaliserOptions options_;
};

}  // namespace elias
