// A label by the name that a request gives.
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"

namespace elias::server {

/// Throws ApiError 404, with the names most like it, if the model has no such label.
uint32_t find_served_label(const Model& model, const std::string& model_name,
                           const std::string& label, const std::string& field);

}  // namespace elias::server
