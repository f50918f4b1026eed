// Files of a model as its config.json tells of them.
#pragma once

#include <string>

#include "data/io/safetensors.h"
#include "model/config.h"

namespace elias {

/// Writes tensors in one atomic step, marked as those of a model.
void write_tensors(SafetensorsWriter& writer, const std::string& path);

/// Name, size and checksum of a file that lies in `folder`.
ModelFile described_file(const std::string& folder, const std::string& name);

}  // namespace elias
