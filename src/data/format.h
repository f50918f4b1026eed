// The formats that data files come in, and their names. formats/recognise.h tells one by its
// content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/label_space.h"

namespace elias {

enum class Format {
  kTsv,        // labels<TAB>text; label ids or names separated by commas, graded name::0.8
  kFastText,   // __label__a __label__b text
  kJsonLines,  // {"text": ..., "labels": [...]}, or {"title", "content", "target_ind",
               // "target_rel"}
  kSparse,     // l,l f:v f:v, with or without a first line N D L
  kMatrix,     // one matrix: first line "rows columns", then c:v c:v a row
  kNpz,        // one matrix: scipy's save_npz
  kLines,      // one text a line, no labels: half of a pair
};

/// The name used by --format and in messages.
std::string_view format_name(Format format);

/// Throws InputError with the list of names if there is no such format.
Format format_from_name(std::string_view name);

}  // namespace elias
