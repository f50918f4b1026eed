// --index of predict and evaluate: labels are found as the model has it, or all are scored.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "model/model.h"

namespace elias::cli {

class IndexOption {
 public:
  void add_to(CLI::App& verb);

  bool exact() const { return text_ == "exact"; }

  /// The model, to be used as the option says. Throws InputError if it cannot be.
  Model load(const std::string& folder, const Context& context) const;

 private:
  std::string text_ = "own";
};

}  // namespace elias::cli
