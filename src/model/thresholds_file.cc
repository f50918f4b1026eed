#include "model/thresholds_file.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace elias {

void add_thresholds(const Thresholds& thresholds, SafetensorsWriter& writer) {
  writer.add<float>("thresholds", thresholds.by_label);
}

std::vector<float> read_thresholds(const SafetensorsFile& file, uint64_t labels) {
  const auto values = file.vector<float>("thresholds");
  if (values.size() != labels ||
      !std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
    throw InputError("{}: has not a threshold for each of {} labels: copy the model again",
                     file.name(), labels);
  }
  return {values.begin(), values.end()};
}

}  // namespace elias
