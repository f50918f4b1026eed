// The options of every verb that reads points.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "data/label_space.h"
#include "data/point_reader.h"

namespace elias::cli {

struct DataOptions {
  std::string format, label_form, labels_path;

  /// Adds --labels, --format and --label-form to `verb`.
  void add_to(CLI::App& verb);
  /// Adds --format alone, for points whose labels are a model's.
  void add_format_to(CLI::App& verb);

  ReadOptions read_options() const;
  /// For verbs that want texts alone: the file may have no labels. Throws InputError if it holds
  /// features.
  std::unique_ptr<PointReader> open_texts(const std::string& path, LabelSpace& labels,
                                          ThreadPool& pool) const;

  /// The label file's names, or an open space without one.
  LabelSpace label_space() const;
};

/// The inputs a user named, with each PECOS folder replaced by the pairs in it.
std::vector<std::string> expand_folders(const std::vector<std::string>& paths);

}  // namespace elias::cli
