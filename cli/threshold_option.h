// --threshold of predict and evaluate: a score, or the thresholds that the model has.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "model/model.h"

namespace elias::cli {

class ThresholdOption {
 public:
  void add_to(CLI::App& verb, const char* description);

  bool given() const { return text_.has_value(); }
  bool automatic() const { return text_ == "auto"; }

  /// The score that was given. Throws InputError if it is `auto`, or no finite number.
  float score() const;
  /// Those of the model, or one score for all labels. Throws InputError if it has none, or the
  /// score is not one that a model gives.
  Thresholds of(const Model& model, const std::string& folder) const;

 private:
  std::optional<std::string> text_;
};

}  // namespace elias::cli
