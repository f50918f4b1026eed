#include "server/json_fields.h"

#include "base/readable.h"
#include "server/json_document.h"

namespace elias::server {

using nlohmann::json;

// --- values --------------------------------------------------------------------------------------

void fail_type(const std::string& field, const json& value, std::string_view wanted) {
  throw ApiError(400, field, "{} is {}: give {}", field.empty() ? "the body" : shown(field),
                 kind_of(value), wanted);
}

const std::string& string_of(const json& value, const std::string& field) {
  if (!value.is_string()) fail_type(field, value, "a string");
  return value.get_ref<const std::string&>();
}

const json& list_of(const json& value, const std::string& field, std::string_view of) {
  if (!value.is_array()) fail_type(field, value, fmt::format("a list of {}", of));
  return value;
}

int64_t whole_of(const json& value, const std::string& field, int64_t least, int64_t most) {
  const bool small = value.is_number_unsigned() ? value.get<uint64_t>() <= uint64_t{INT64_MAX}
                                                : value.is_number_integer();
  if (small && value.get<int64_t>() >= least && value.get<int64_t>() <= most) {
    return value.get<int64_t>();
  }
  fail_type(field, value, fmt::format("a whole number from {} to {}", least, most));
}

AskedThreshold threshold_of(const json& value, const std::string& field) {
  if (value.is_string() && value.get_ref<const std::string&>() == "auto")
    return {.automatic = true};
  if (value.is_number()) {
    const auto score = value.get<double>();
    if (score >= 0 && score <= 1) return {.score = static_cast<float>(score)};
  }
  fail_type(field, value, "a number from 0 to 1, or \"auto\"");
}

std::string in_list(const std::string& field, size_t i) { return fmt::format("{}[{}]", field, i); }

std::vector<std::string> names_of(const json& value, const std::string& field) {
  std::vector<std::string> names;
  for (const json& name : list_of(value, field, "label names")) {
    names.push_back(string_of(name, in_list(field, names.size())));
  }
  return names;
}

// --- texts ---------------------------------------------------------------------------------------

const std::string& text_of(const json& value, const std::string& field, const Limits& limits) {
  const std::string& text = string_of(value, field);
  if (text.size() > limits.text) {
    throw ApiError(413, field, "{} has more than the {} that a text may have: send less of it",
                   shown(field), bytes_text(limits.text));
  }
  return text;
}

TextRows texts_of(const json& value, const std::string& field, const Limits& limits) {
  const json& list = list_of(value, field, "strings");
  if (list.size() > limits.texts) {
    throw ApiError(413, field, "{} has {}, but a request may have {}: ask several times",
                   shown(field), counted(list.size(), "text"), limits.texts);
  }
  TextRows texts;
  for (const json& text : list) texts.add(text_of(text, in_list(field, texts.rows()), limits));
  return texts;
}

}  // namespace elias::server
