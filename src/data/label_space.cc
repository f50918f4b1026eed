#include "data/label_space.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "data/io/line_reader.h"
#include "data/io/utf8.h"

namespace elias {

LabelSpace LabelSpace::read(const std::string& path) { return read(open_bytes(path)); }

LabelSpace LabelSpace::read(std::unique_ptr<ByteSource> source) {
  LineReader reader(std::move(source));
  LabelSpace space;
  space.path_ = reader.name();
  LineBlock block;
  while (reader.next(block)) {
    std::string_view left = block.bytes;
    for (uint64_t line = block.first_line; !left.empty(); ++line) {
      const std::string_view name = take_line(left);
      require_utf8(name, place(space.path_, line));
      space.names_.add(name);
    }
  }
  if (space.names_.size() == 0) {
    throw InputError("{}: is empty: a label file names label i on line i + 1", space.path_);
  }
  return space;
}

void LabelSpace::fix_form(LabelForm form, std::string owner) {
  form_ = form;
  form_owner_ = std::move(owner);
}

LabelSpace LabelSpace::read(std::unique_ptr<ByteSource> source, std::string owner) {
  LabelSpace space = read(std::move(source));
  space.owner_ = std::move(owner);
  return space;
}

uint64_t LabelSpace::size() const { return std::max<uint64_t>(names_.size(), id_count_); }

std::string LabelSpace::name(LabelId label) const {
  if (label.value() < names_.size()) return std::string(names_[label.value()]);
  return std::to_string(label.value());
}

LabelId LabelSpace::resolve_name(std::string_view name, const std::string& where) {
  if (!closed()) return LabelId(names_.intern(name));
  const auto known = names_.find(name);
  if (known) return LabelId(*known);
  if (!owner_.empty()) {
    throw InputError("{}: label {} is not one of {}'s: mend the line, or leave it out", where,
                     shown(name), owner_);
  }
  throw InputError("{}: label {} is not in {}: add it there, or mend the line", where, shown(name),
                   path_);
}

void LabelSpace::require_ids(const std::string& file) {
  if (closed()) return;
  if (form_ == LabelForm::kNames && !form_owner_.empty()) {
    throw InputError("{}: holds label ids, but the labels of {} are names: give points with names",
                     file, form_owner_);
  }
  if (form_ == LabelForm::kNames) {
    throw InputError(
        "{}: holds label ids where the files before it hold names: say which id is "
        "which name with --labels",
        file);
  }
  form_ = LabelForm::kIds;
}

void LabelSpace::require_size(uint64_t count, const std::string& file) {
  if (closed() && count != size()) {
    throw InputError("{}: has {} labels, {} names {}: these do not belong together", file, count,
                     path_, size());
  }
  if (count > kMostLabels) {
    throw InputError("{}: has {} labels, more than the {} that are supported", file, count,
                     kMostLabels);
  }
  cover_ids(count);
}

void LabelSpace::cover_ids(uint64_t count) { id_count_ = std::max(id_count_, count); }

}  // namespace elias
