// --model, --input and --input-format of verbs that answer points, from a file or as they come.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "data/point_reader.h"
#include "model/model.h"

namespace elias::cli {

struct ModelInput {
  std::string model, input, input_format;

  /// `labels` says what becomes of the labels of points: "whose labels are ignored".
  void add_to(CLI::App& verb, const std::string& labels,
              const std::string& what_model = "The folder that 'elias fit' wrote");

  ReadOptions read_options(const Model& loaded, ReadOptions::Labels labels) const;
  /// Of what takes texts.
  ReadOptions text_options(ReadOptions::Labels labels) const;
};

}  // namespace elias::cli
