// Which format is this? Told from the first block of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format.h"
#include "data/label_space.h"

namespace elias {

/// The format of a file that starts with `sample`; nothing if it looks like none of them.
std::optional<Format> find_format(std::string_view sample);

/// Throws the InputError for a file whose format was not found; `option` names one.
[[noreturn]] void fail_format(std::string_view sample, const std::string& name,
                              std::string_view option);

/// Whether the first label in `sample` is an id or a name; kUnknown if there is none. One label
/// decides, so that a stray name among ids is an error and does not turn all ids into names.
LabelForm recognise_label_form(std::string_view sample, Format format);

/// The numbers of a first line that holds nothing but `count` whole numbers.
std::optional<std::vector<uint64_t>> header_of(std::string_view sample, size_t count);

/// True if the first line with anything in it looks like "c:v c:v" or "l,l f:v".
bool looks_sparse(std::string_view sample);

/// True if the first line with anything in it is "c:v c:v" from end to end.
bool looks_like_matrix(std::string_view sample);

}  // namespace elias
