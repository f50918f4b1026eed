// JSON lines: one object a line. See json_lines.cc for the two forms.
#pragma once

#include <string_view>

#include "data/label_space.h"

namespace elias {

/// Whether the first label in `sample` is an id (a number) or a name (a string); kUnknown if none.
LabelForm json_label_form(std::string_view sample);

}  // namespace elias
