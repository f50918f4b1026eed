#include "server/json_text.h"

#include <fmt/format.h>

#include <iterator>

namespace elias::server {
namespace {

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

void append_escaped(char c, std::string& json) {
  switch (c) {
    case '"':
      json += "\\\"";
      return;
    case '\\':
      json += "\\\\";
      return;
    case '\n':
      json += "\\n";
      return;
    case '\t':
      json += "\\t";
      return;
    default:
      fmt::format_to(std::back_inserter(json), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

}  // namespace

void append_string(std::string_view text, std::string& json) {
  json += '"';
  size_t written = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_plain(text[i])) continue;
    json += text.substr(written, i - written);
    append_escaped(text[i], json);
    written = i + 1;
  }
  json += text.substr(written);
  json += '"';
}

void append_number(float value, std::string& json) {
  fmt::format_to(std::back_inserter(json), "{}", value);
}

void append_labels(const Model& model, const RankedRow& row, std::string& json) {
  json += '[';
  for (size_t i = 0; i < row.size(); ++i) {
    json += i == 0 ? R"({"label":)" : R"(,{"label":)";
    append_string(model.label_name(static_cast<uint32_t>(row[i].label)), json);
    json += R"(,"score":)";
    append_number(row[i].score, json);
    json += '}';
  }
  json += ']';
}

}  // namespace elias::server
