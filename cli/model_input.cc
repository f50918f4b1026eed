#include "cli/model_input.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

namespace elias::cli {
namespace {

// Someone may be waiting for the answer to what was written so far.
bool is_interactive(const std::string& input) {
  struct stat status {};
  return input == "-" && ::fstat(STDIN_FILENO, &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

void ModelInput::add_to(CLI::App& verb, const std::string& labels, const std::string& what_model) {
  verb.add_option("--model", model, what_model)->required()->type_name("FOLDER");
  verb.add_option(
          "--input", input,
          fmt::format("Texts, one a line, or points in any format, {}; - for standard input",
                      labels))
      ->required()
      ->type_name("FILE");
  verb.add_option("--input-format", input_format,
                  "Format of the input: lines, tsv, fasttext, jsonl, sparse, matrix, npz "
                  "(default: told from the file)")
      ->type_name("NAME");
}

ReadOptions ModelInput::read_options(const Model& loaded, ReadOptions::Labels labels) const {
  ReadOptions reading = text_options(labels);
  if (loaded.tfidf() == nullptr) reading.lines_argument = "";
  return reading;
}

ReadOptions ModelInput::text_options(ReadOptions::Labels labels) const {
  ReadOptions reading;
  reading.labels = labels;
  reading.as_it_comes = is_interactive(input);
  reading.lines_argument = "--input-format lines";
  if (!input_format.empty()) reading.format = format_from_name(input_format);
  return reading;
}

}  // namespace elias::cli
