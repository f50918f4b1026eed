// JSON written piece by piece, where a document would cost more than the prediction it tells of.
#pragma once

#include <string>
#include <string_view>

#include "model/model.h"
#include "serve/replica.h"

namespace elias::server {

/// `text`, which is UTF-8, in quotes.
void append_string(std::string_view text, std::string& json);
/// The shortest number that is read as the same float.
void append_number(float value, std::string& json);

/// [{"label":"x","score":0.98},...]
void append_labels(const Model& model, const RankedRow& row, std::string& json);

}  // namespace elias::server
