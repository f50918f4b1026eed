#include "cli/threshold_option.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "base/errors.h"

namespace elias::cli {

void ThresholdOption::add_to(CLI::App& verb, const char* description) {
  verb.add_option("--threshold", text_, description)->type_name("SCORE|auto");
}

float ThresholdOption::score() const {
  double score = 0;
  if (CLI::detail::lexical_cast(*text_, score) && std::isfinite(static_cast<float>(score))) {
    return static_cast<float>(score);
  }
  if (automatic()) {
    throw InputError("--threshold auto: needs a --model, which can have thresholds: give a score");
  }
  throw InputError("--threshold {}: is not a finite number: give a score, or auto", shown(*text_));
}

Thresholds ThresholdOption::of(const Model& model, const std::string& folder) const {
  if (!automatic()) {
    Thresholds thresholds;
    thresholds.common = score();
    if (thresholds.common >= 0 && thresholds.common <= 1) return thresholds;
    throw InputError("--threshold {}: scores are probabilities: give a number from 0 to 1", *text_);
  }
  if (model.thresholds() != nullptr) return *model.thresholds();
  throw InputError(
      "--threshold auto: {} has no thresholds: 'elias threshold --model {} --data FILE' chooses "
      "them on points that it was not trained on; or give a score",
      folder, folder);
}

}  // namespace elias::cli
