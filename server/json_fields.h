// Values of a request's JSON, each checked for its type and bounds; what is wrong is told with the
// name of the field, which the caller gives: "inputs[0].data".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "data/text_rows.h"
#include "server/api_error.h"
#include "server/request_json.h"

namespace elias::server {

[[noreturn]] void fail_type(const std::string& field, const nlohmann::json& value,
                            std::string_view wanted);

const std::string& string_of(const nlohmann::json& value, const std::string& field);
/// `of` says what the list is to hold, for messages.
const nlohmann::json& list_of(const nlohmann::json& value, const std::string& field,
                              std::string_view of);
int64_t whole_of(const nlohmann::json& value, const std::string& field, int64_t least,
                 int64_t most);
AskedThreshold threshold_of(const nlohmann::json& value, const std::string& field);
std::vector<std::string> names_of(const nlohmann::json& value, const std::string& field);

/// Throws ApiError 413 if it is longer than a text may be.
const std::string& text_of(const nlohmann::json& value, const std::string& field,
                           const Limits& limits);
TextRows texts_of(const nlohmann::json& value, const std::string& field, const Limits& limits);

/// "texts[3]".
std::string in_list(const std::string& field, size_t i);

/// Calls field(name, value, place) for each field of an object, which says whether it knows it.
template <typename Field>
void read_fields(const nlohmann::json& object, const std::string& place, const Field& field) {
  if (!object.is_object()) fail_type(place, object, "an object");
  for (const auto& [name, value] : object.items()) {
    const std::string where = place.empty() ? name : fmt::format("{}.{}", place, name);
    if (!field(name, value, where)) {
      throw ApiError(400, where, "there is no field {} here: leave it out", shown(where));
    }
  }
}

}  // namespace elias::server
