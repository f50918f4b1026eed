// JSON as a request may hold it: small, shallow, UTF-8, and without a name that is given twice.
//
// nlohmann's own parser takes the last of two equal names and any depth. Here a document is built
// from its events, so that what is wrong is told with its place: "inputs[0].data[2]".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace elias::server {

/// Throws ApiError 400.
nlohmann::json parse_json(std::string_view text);

/// "a number", "a list": what a value is, for messages.
std::string kind_of(const nlohmann::json& value);

}  // namespace elias::server
