#include "server/request_json.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/readable.h"
#include "server/api_error.h"
#include "server/json_document.h"
#include "server/json_fields.h"

namespace elias::server {
namespace {

using nlohmann::json;

// --- POST /v1/predict ----------------------------------------------------------------------------

// true, false or labels.
void read_explain(const json& value, PredictBody& body) {
  if (value.is_boolean()) {
    body.explain = value.get<bool>();
    return;
  }
  if (!value.is_array()) fail_type("explain", value, "true, false or a list of label names");
  body.explained = names_of(value, "explain");
  if (body.explained.empty()) {
    throw ApiError(400, "explain", "'explain' is an empty list: name labels, or give true");
  }
  body.explain = true;
}

bool read_predict_field(const std::string& name, const json& value, const Limits& limits,
                        PredictBody& body, bool& has_texts) {
  if (name == "text" || name == "texts") {
    if (has_texts) {
      throw ApiError(400, name, "there are both 'text' and 'texts': give one of them");
    }
    has_texts = true;
    if (name == "texts") {
      body.texts = texts_of(value, name, limits);
    } else {
      body.texts.add(text_of(value, name, limits));
    }
  } else if (name == "model") {
    body.wanted.model = string_of(value, name);
  } else if (name == "k") {
    body.wanted.k = whole_of(value, name, 1, kMostLabels);
  } else if (name == "threshold") {
    body.wanted.threshold = threshold_of(value, name);
  } else if (name == "candidates") {
    body.candidates = names_of(value, name);
  } else if (name == "explain") {
    read_explain(value, body);
  } else if (name == "words") {
    body.words = static_cast<size_t>(whole_of(value, name, 0, kMostWords));
  } else {
    return false;
  }
  return true;
}

void check_explained(const PredictBody& body) {
  if (!body.explain) return;
  if (body.candidates) {
    throw ApiError(400, "candidates",
                   "labels among candidates are not explained: leave out one of "
                   "'candidates' and 'explain'");
  }
  if (body.texts.rows() > kMostExplainedTexts) {
    throw ApiError(413, "texts",
                   "'texts' has {}, but with 'explain' a request may have {}: ask "
                   "several times",
                   counted(body.texts.rows(), "text"), kMostExplainedTexts);
  }
  if (body.wanted.k.value_or(1) > kMostExplained) {
    throw ApiError(400, "k", "'k' is {}: with 'explain' give a whole number from 1 to {}",
                   *body.wanted.k, kMostExplained);
  }
  if (body.explained.size() > static_cast<size_t>(kMostExplained)) {
    throw ApiError(400, "explain", "'explain' has {}: name at most {}",
                   counted(body.explained.size(), "label"), kMostExplained);
  }
}

}  // namespace

PredictBody read_predict_body(std::string_view text, const Limits& limits) {
  PredictBody body;
  bool has_texts = false;
  const json document = parse_json(text);
  read_fields(document, "", [&](const std::string& name, const json& value, const std::string&) {
    return read_predict_field(name, value, limits, body, has_texts);
  });
  if (!has_texts) {
    throw ApiError(400, "texts", "'texts' is missing: give a list of strings");
  }
  check_explained(body);
  return body;
}

BulkLine read_bulk_line(std::string_view text, const Limits& limits) {
  BulkLine line;
  bool has_text = false;
  const json document = parse_json(text);
  if (document.is_string()) return {.id = "", .text = text_of(document, "text", limits)};
  if (!document.is_object()) fail_type("", document, "an object with \"text\", or a string");
  read_fields(document, "", [&](const std::string& name, const json& value, const std::string&) {
    if (name == "text") {
      line.text = text_of(value, name, limits);
      has_text = true;
    } else if (name == "id") {
      if (!value.is_string() && !value.is_number()) fail_type(name, value, "a string or a number");
      line.id = value.dump();
    } else {
      return false;
    }
    return true;
  });
  if (!has_text) throw ApiError(400, "text", "'text' is missing: give a string");
  return line;
}

void read_empty_body(std::string_view body) {
  if (body.empty()) return;
  read_fields(parse_json(body), "", [](const auto&, const auto&, const auto&) { return false; });
}

// --- parameters of a query -----------------------------------------------------------------------

int64_t read_whole(const std::string& name, const std::string& value, int64_t least, int64_t most) {
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc() && stop == end && number >= least && number <= most) return number;
  throw ApiError(400, name, "{} is {}: give a whole number from {} to {}", shown(name),
                 shown(value), least, most);
}

AskedThreshold read_threshold(const std::string& value) {
  if (value == "auto") return {.automatic = true};
  float score = -1;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, score);
  if (error == std::errc() && stop == end && score >= 0 && score <= 1) return {.score = score};
  throw ApiError(400, "threshold", "'threshold' is {}: give a number from 0 to 1, or auto",
                 shown(value));
}

}  // namespace elias::server
