// The names of labels in a mapped labels.txt: found by id at once, by name after a table was made.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/label_space.h"
#include "data/string_table.h"

namespace elias {

/// One name a line. They have passed check_label_names (model/model.h).
std::string label_file_text(const LabelSpace& labels);

class LabelNames {
 public:
  /// `text` must outlive the object. Throws InputError, with `path` in front, if it is not UTF-8 of
  /// L lines.
  LabelNames(std::string_view text, int64_t L, const std::string& path);

  std::string_view operator[](uint32_t label) const {
    return text_.substr(offsets_[label], offsets_[label + 1] - offsets_[label] - 1);
  }

  /// Of equal names the first. The table is made when this is first called, by whatever thread.
  std::optional<uint32_t> find(std::string_view name) const;

  std::string_view text() const { return text_; }
  const std::string& path() const { return path_; }

 private:
  std::string_view text_;
  std::string path_;
  std::vector<uint64_t> offsets_;  // [L + 1], where lines begin
  mutable std::once_flag table_made_;
  mutable StringTable table_;
};

}  // namespace elias
