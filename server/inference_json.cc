// The bodies of the Open Inference Protocol, as far as they are about texts and labels.
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/readable.h"
#include "server/api_error.h"
#include "server/json_document.h"
#include "server/json_fields.h"
#include "server/request_json.h"

namespace elias::server {
namespace {

using nlohmann::json;

bool no_field(const std::string&, const json&, const std::string&) { return false; }

void check_shape(const json& shape, const std::string& field, size_t texts) {
  list_of(shape, field, "numbers");
  for (size_t i = 0; i < shape.size(); ++i) whole_of(shape[i], in_list(field, i), 0, INT64_MAX);
  if (shape == json::array({texts}) || shape == json::array({texts, 1})) return;
  throw ApiError(400, field, "{} is {}, but there are {}: give [{}] or [{}, 1]", shown(field),
                 shape.dump(), counted(texts, "text"), texts, texts);
}

void require(const json& value, const std::string& field, std::string_view wanted) {
  if (string_of(value, field) == wanted) return;
  throw ApiError(400, field, "{} is {}: give \"{}\"", shown(field),
                 shown(value.get_ref<const std::string&>()), wanted);
}

/// The one tensor: a column of strings.
TextRows read_input(const json& input, const std::string& place, const Limits& limits) {
  read_fields(input, place, [](const std::string& name, const json& value, const auto& field) {
    if (name == "name") {
      require(value, field, "text");
    } else if (name == "datatype") {
      require(value, field, "BYTES");
    } else if (name == "parameters") {
      read_fields(value, field, no_field);
    } else {
      return name == "shape" || name == "data";
    }
    return true;
  });
  for (const char* name : {"name", "datatype", "shape", "data"}) {
    if (input.contains(name)) continue;
    const std::string field = fmt::format("{}.{}", place, name);
    throw ApiError(400, field, "{} is missing: give it", shown(field));
  }
  TextRows texts = texts_of(input["data"], place + ".data", limits);
  check_shape(input["shape"], place + ".shape", texts.rows());
  return texts;
}

TextRows read_inputs(const json& inputs, const Limits& limits) {
  if (list_of(inputs, "inputs", "one tensor").size() != 1) {
    throw ApiError(400, "inputs", "'inputs' has {}: give one, 'text'",
                   counted(inputs.size(), "tensor"));
  }
  return read_input(inputs[0], in_list("inputs", 0), limits);
}

void read_output(const json& output, const std::string& place, InferBody& body) {
  read_fields(output, place, [&](const std::string& name, const json& value, const auto& field) {
    if (name == "parameters") {
      read_fields(value, field, no_field);
      return true;
    }
    if (name != "name") return false;
    const std::string& wanted = string_of(value, field);
    if (wanted != "labels" && wanted != "scores") {
      throw ApiError(400, field, "{} is {}: give \"labels\" or \"scores\"", shown(field),
                     shown(wanted));
    }
    (wanted == "labels" ? body.labels : body.scores) = true;
    return true;
  });
}

void read_outputs(const json& outputs, InferBody& body) {
  list_of(outputs, "outputs", "objects");
  body.labels = body.scores = outputs.empty();  // none named: all
  for (size_t i = 0; i < outputs.size(); ++i) {
    read_output(outputs[i], in_list("outputs", i), body);
  }
}

void read_parameters(const json& parameters, AskedLabels& wanted) {
  read_fields(parameters, "parameters",
              [&](const std::string& name, const json& value, const auto& field) {
                if (name == "k") {
                  wanted.k = whole_of(value, field, 1, kMostLabels);
                } else if (name == "threshold") {
                  wanted.threshold = threshold_of(value, field);
                } else {
                  return false;
                }
                return true;
              });
}

}  // namespace

InferBody read_infer_body(std::string_view text, const Limits& limits) {
  InferBody body;
  const json document = parse_json(text);
  read_fields(document, "", [&](const std::string& name, const json& value, const auto& field) {
    if (name == "id") {
      body.id = string_of(value, field);
    } else if (name == "inputs") {
      body.texts = read_inputs(value, limits);
    } else if (name == "outputs") {
      read_outputs(value, body);
    } else if (name == "parameters") {
      read_parameters(value, body.wanted);
    } else {
      return false;
    }
    return true;
  });
  if (!document.contains("inputs")) {
    throw ApiError(400, "inputs", "'inputs' is missing: give the tensor 'text'");
  }
  return body;
}

}  // namespace elias::server
