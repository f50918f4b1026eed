// Reading and writing settings by name; what names there are is in settings_table.cc.
#include "train/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/edit_distance.h"
#include "base/errors.h"
#include "base/readable.h"
#include "train/settings_table.h"

namespace elias {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kOpen = "auto";

const Setting& find_setting(std::string_view name, const std::string& where) {
  const auto settings = all_settings();
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  if (found != settings.end()) return *found;
  const auto nearest =
      std::min_element(settings.begin(), settings.end(), [&](const Setting& a, const Setting& b) {
        return edit_distance(name, a.name) < edit_distance(name, b.name);
      });
  throw InputError("{}: there is no setting {}: the nearest is {}; elias fit --help lists all",
                   where, shown(name), nearest->name);
}

template <typename T>
bool parse_number(std::string_view text, const Setting& setting, T& value) {
  T parsed{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, parsed);
  if (result.ec != std::errc() || result.ptr != end) return false;
  // Ranges are of round numbers: exact in float where a float is near them.
  const T low = static_cast<T>(setting.low), high = static_cast<T>(setting.high);
  if (!(parsed >= low && parsed <= high)) return false;
  if constexpr (std::is_integral_v<T>) {
    if (setting.power_of_two && (parsed & (parsed - 1)) != 0) return false;
  }
  value = parsed;
  return true;
}

template <typename T>
bool parse_value(std::string_view text, const Setting& setting, T* value) {
  if constexpr (std::is_same_v<T, bool>) {
    *value = text == "true";
    return *value || text == "false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    *value = text;
    return !text.empty();
  } else if constexpr (std::is_enum_v<T>) {
    const auto names = names_of(value);
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) return false;
    *value = static_cast<T>(found - names.begin());
    return true;
  } else {
    if (setting.open && text == kOpen) {
      *value = static_cast<T>(*setting.open);
      return true;
    }
    return parse_number(text, setting, *value);
  }
}

}  // namespace

void set(Settings& settings, std::string_view name, std::string_view value,
         const std::string& where) {
  const Setting& setting = find_setting(name, where);
  const auto parse = [&](auto* place) { return parse_value(value, setting, place); };
  if (std::visit(parse, setting.place(settings))) return;
  throw InputError("{}: {} cannot be {}: give {}", where, name, shown(value),
                   allowed_values(setting));
}

void set_all(Settings& settings, const ordered_json& json, const std::string& where) {
  if (!json.is_object()) {
    throw InputError("{}: is not a JSON object: give settings as {{\"name\": value, ...}}", where);
  }
  for (const auto& [name, value] : json.items()) {
    set(settings, name, value.is_string() ? value.get<std::string>() : value.dump(), where);
  }
}

ordered_json to_json(const Settings& settings) {
  Settings copy = settings;
  ordered_json json = ordered_json::object();
  for (const Setting& setting : all_settings()) {
    ordered_json& value = json[std::string(setting.name)];
    std::visit(
        [&](auto* place) {
          using T = std::remove_pointer_t<decltype(place)>;
          if constexpr (std::is_enum_v<T>) {
            value = names_of(place)[static_cast<size_t>(*place)];
          } else if constexpr (std::is_same_v<T, float>) {
            value = shortest(*place);
          } else {
            value = *place;
          }
          if constexpr (std::is_arithmetic_v<T>) {
            if (setting.open && *place == static_cast<T>(*setting.open)) value = kOpen;
          }
        },
        setting.place(copy));
  }
  return json;
}

std::string settings_help() {
  const auto defaults = to_json(Settings{});
  std::string text;
  for (const Setting& setting : all_settings()) {
    const auto& value = defaults[std::string(setting.name)];
    text += fmt::format("  {:<22} {}\n  {:<22}   {}; if not given: {}\n", setting.name,
                        setting.meaning, "", allowed_values(setting),
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace elias
