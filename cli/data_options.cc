#include "cli/data_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "base/errors.h"

namespace elias::cli {
namespace fs = std::filesystem;

namespace {

// False as well where it cannot be told: opening the file then says why.
bool is_absent(const fs::path& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type() == fs::file_type::not_found;
}

}  // namespace

void DataOptions::add_to(CLI::App& verb) {
  verb.add_option("--labels", labels_path, "Label names: line i + 1 names label i")
      ->type_name("FILE");
  add_format_to(verb);
  verb.add_option("--label-form", label_form,
                  "What labels are: ids or names (default: told from the file)")
      ->type_name("FORM")
      ->check(CLI::IsMember({"ids", "names"}));
}

void DataOptions::add_format_to(CLI::App& verb) {
  verb.add_option("--format", format,
                  "Format of the points: tsv, fasttext, jsonl, sparse; of the X of a pair: lines, "
                  "matrix, npz "
                  "(default: told from the file)")
      ->type_name("NAME");
}

ReadOptions DataOptions::read_options() const {
  ReadOptions options;
  if (!format.empty()) options.format = format_from_name(format);
  if (label_form == "ids") options.label_form = LabelForm::kIds;
  if (label_form == "names") options.label_form = LabelForm::kNames;
  return options;
}

std::unique_ptr<PointReader> DataOptions::open_texts(const std::string& path, LabelSpace& labels,
                                                     ThreadPool& pool) const {
  ReadOptions options = read_options();
  options.labels = ReadOptions::Labels::kIgnored;
  auto reader = open_points(path, options, labels, pool);
  if (!reader->info().has_text) {
    throw InputError("{}: holds features, not texts: give a file of texts, or use --format lines",
                     reader->info().name);
  }
  return reader;
}

LabelSpace DataOptions::label_space() const {
  return labels_path.empty() ? LabelSpace() : LabelSpace::read(labels_path);
}

std::vector<std::string> expand_folders(const std::vector<std::string>& paths) {
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      inputs.push_back(path);
      continue;
    }
    const size_t before = inputs.size();
    for (const char* part : {"trn", "train", "dev", "val", "tst", "test"}) {
      for (const char* x_ending : {"txt", "npz"}) {
        const fs::path x = fs::path(path) / fmt::format("X.{}.{}", part, x_ending);
        const fs::path y = fs::path(path) / fmt::format("Y.{}.npz", part);
        if (is_absent(x) || is_absent(y)) continue;
        inputs.push_back(fmt::format("{},{}", x.string(), y.string()));
        break;
      }
    }
    if (inputs.size() == before) {
      throw InputError(
          "{}: is a directory without X.trn.npz (or .txt) and Y.trn.npz: name the files "
          "in it",
          path);
    }
  }
  return inputs;
}

}  // namespace elias::cli
