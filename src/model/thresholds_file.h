// The file that holds a threshold for each label.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/io/safetensors.h"
#include "metrics/thresholds.h"

namespace elias {

void add_thresholds(const Thresholds& thresholds, SafetensorsWriter& writer);

/// [L]. Throws InputError, naming the file, unless there is a finite number for each label.
std::vector<float> read_thresholds(const SafetensorsFile& file, uint64_t labels);

}  // namespace elias
