// What `elias threshold` tells of the thresholds it chose.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "metrics/thresholds.h"

namespace elias {

struct ThresholdChoice {
  Thresholds thresholds;
  std::optional<uint64_t> least_own;       // true pairs of a label with a threshold of its own
  ThresholdFigures here;                   // on the points they were chosen on
  std::optional<ThresholdFigures> tested;  // on points that had no say
};

/// "f1", "precision 0.9": what thresholds were chosen for.
std::string goal_text(const ThresholdGoal& goal);

nlohmann::ordered_json thresholds_json(const Thresholds& thresholds);

std::string threshold_report(const ThresholdChoice& choice);
nlohmann::ordered_json threshold_json(const ThresholdChoice& choice);

}  // namespace elias
