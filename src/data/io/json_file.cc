#include "data/io/json_file.h"

#include <filesystem>
#include <limits>

#include "base/errors.h"
#include "base/mapped_file.h"

namespace elias {

using Json = nlohmann::ordered_json;

Json read_json_if_there(const std::string& path, std::string_view remedy) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  const MappedFile file(path);
  const auto* const text = reinterpret_cast<const char*>(file.bytes().data());
  Json json = Json::parse(text, text + file.bytes().size(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw InputError("{}: is not JSON: {}", path, remedy);
  return json;
}

std::optional<int64_t> whole_in(const Json& json, const char* key) {
  if (!json.contains(key) || !json.at(key).is_number_integer()) return std::nullopt;
  const Json& value = json.at(key);
  if (value.is_number_unsigned() && value.get<uint64_t>() > std::numeric_limits<int64_t>::max()) {
    return std::nullopt;
  }
  return value.get<int64_t>();
}

std::optional<std::string> text_in(const Json& json, const char* key) {
  if (!json.contains(key) || !json.at(key).is_string()) return std::nullopt;
  return json.at(key).get<std::string>();
}

std::optional<bool> flag_in(const Json& json, const char* key) {
  if (!json.contains(key) || !json.at(key).is_boolean()) return std::nullopt;
  return json.at(key).get<bool>();
}

}  // namespace elias
