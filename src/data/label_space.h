// Which labels there are, shared by all files of one job so that an id means the same in each.
//
// Files speak of labels by id (0, 1, 2, ...) or by name. The first file read decides which (its
// content tells, or --format does) and the others follow. Names come from a label file (line i
// names label i), and then a label it does not have is an error; or they are collected from the
// data, and ids are handed out in the order of first appearance.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "data/io/byte_source.h"
#include "data/string_table.h"

namespace elias {

enum class LabelForm { kUnknown, kIds, kNames };

class LabelSpace {
 public:
  static constexpr uint64_t kMostLabels = 100'000'000;

  LabelSpace() = default;

  /// Reads a label file: UTF-8, one name a line, gzip or not. Throws InputError on a bad one.
  static LabelSpace read(const std::string& path);
  static LabelSpace read(std::unique_ptr<ByteSource> source);
  /// Labels of `owner` ("the model"), from the file that it was given once: none can be added.
  static LabelSpace read(std::unique_ptr<ByteSource> source, std::string owner);

  /// What the files of an open space have used so far.
  LabelForm form() const { return form_; }
  void set_form(LabelForm form) { form_ = form; }

  /// Says that `owner` ("the model") decided on the form: no file, and no option, can change it.
  void fix_form(LabelForm form, std::string owner);
  /// Empty unless the form is fixed.
  const std::string& form_owner() const { return form_owner_; }

  /// True if names came from a label file.
  bool closed() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  /// Number of labels: the names known, or 1 + the largest id seen.
  uint64_t size() const;

  bool has_names() const { return names_.size() > 0; }
  /// The name of a label; its id in digits where there are no names.
  std::string name(LabelId label) const;
  const StringTable& names() const { return names_; }

  /// The id of a name, added if the space is open. `where` starts the error message ("f.txt:3").
  LabelId resolve_name(std::string_view name, const std::string& where);

  /// Throws InputError if `file`, which holds ids, comes after files that hold names.
  void require_ids(const std::string& file);

  /// Says that `file` has `count` labels. Throws InputError if the label file has another number,
  /// or if they are too many.
  void require_size(uint64_t count, const std::string& file);

  /// Makes ids below `count` known, for files whose labels are ids.
  void cover_ids(uint64_t count);

 private:
  std::string path_, owner_, form_owner_;
  LabelForm form_ = LabelForm::kUnknown;
  StringTable names_;
  uint64_t id_count_ = 0;
};

}  // namespace elias
