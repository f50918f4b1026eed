// Values of a model's config.json, or an InputError that names them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/errors.h"

namespace elias::config_values {

using Json = nlohmann::ordered_json;

// A number that is not whole, or too large, would be converted in silence.
inline int64_t whole(const Json& json, const char* key, const std::string& path) {
  const Json& value = json.at(key);
  const bool fits =
      value.is_number_integer() &&
      !(value.is_number_unsigned() && value.get<uint64_t>() > std::numeric_limits<int64_t>::max());
  if (fits) return value.get<int64_t>();
  throw InputError("{}: \"{}\" is {}, not a whole number: copy the model again", path, key,
                   shown(value.dump()));
}

inline double real(const Json& json, const char* key, const std::string& path) {
  const Json& value = json.at(key);
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (std::abs(number) <= double{std::numeric_limits<float>::max()}) return number;
  throw InputError("{}: \"{}\" is {}, not a number: copy the model again", path, key,
                   shown(value.dump()));
}

/// The value of an enumeration by its name.
template <typename Enum, size_t N>
Enum named(const Json& json, const char* key, const std::array<std::string_view, N>& names,
           const std::string& path) {
  const auto name = json.at(key).get<std::string>();
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  throw InputError("{}: \"{}\" is {}, which is not known here: update elias", path, key,
                   shown(name));
}

}  // namespace elias::config_values
