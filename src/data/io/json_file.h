// Small JSON files beside models, which may be missing or leave values out.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace elias {

/// What the file `path` holds; null if there is no such file. Throws InputError, `remedy` at its
/// end, if it is not JSON.
nlohmann::ordered_json read_json_if_there(const std::string& path, std::string_view remedy);

/// The value of `key`; none if there is none, or of another type.
std::optional<int64_t> whole_in(const nlohmann::ordered_json& json, const char* key);
std::optional<std::string> text_in(const nlohmann::ordered_json& json, const char* key);
std::optional<bool> flag_in(const nlohmann::ordered_json& json, const char* key);

}  // namespace elias
