#include "model/label_names.h"

#include "base/errors.h"
#include "data/io/utf8.h"
#include "model/model.h"

namespace elias {

void check_label_names(const LabelSpace& labels) {
  const StringTable& names = labels.names();
  for (uint32_t label = 0; label < names.size(); ++label) {
    const std::string_view name = names[label];
    if (name.find('\n') == std::string_view::npos && !name.ends_with('\r')) continue;
    throw InputError(
        "the name of label {}, {}, holds a line end, and a model keeps one name a line: rename the "
        "label",
        label, shown(name));
  }
}

std::string label_file_text(const LabelSpace& labels) {
  std::string text;
  const StringTable& names = labels.names();
  for (uint32_t label = 0; label < names.size(); ++label) {
    text += names[label];
    text += '\n';
  }
  return text;
}

LabelNames::LabelNames(std::string_view text, int64_t L, const std::string& path)
    : text_(text), path_(path) {
  require_utf8(text, path);
  offsets_.reserve(static_cast<size_t>(L) + 1);
  offsets_.push_back(0);
  for (size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    offsets_.push_back(end + 1);
  }
  if (offsets_.size() != static_cast<size_t>(L) + 1 || offsets_.back() != text.size()) {
    throw InputError("{}: has {} lines, but the model has {} labels: copy the model again", path,
                     offsets_.size() - 1, L);
  }
}

std::optional<uint32_t> LabelNames::find(std::string_view name) const {
  std::call_once(table_made_, [&] {
    for (uint32_t label = 0; label + 1 < offsets_.size(); ++label) table_.add((*this)[label]);
  });
  return table_.find(name);
}

}  // namespace elias
