// What config.json of a model says of a transformer that is its encoder.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "encoder/transformer_config.h"
#include "ops/product/linear.h"

namespace elias {

struct TransformerPart {
  TransformerConfig config;
  int64_t max_length = 0;  // tokens of a text
  bool unit = false;       // phi has unit length
  Precision precision = Precision::kBFloat16;
  std::string pad_token = "[PAD]", mask_token = "[MASK]";  // which tokenizer.json does not name
};

/// Width and layers are among the sizes of all models. Throws InputError, with `path` in front, if
/// the values cannot be.
TransformerPart transformer_from(const nlohmann::ordered_json& json, int64_t width, int64_t layers,
                                 const std::string& path);
nlohmann::ordered_json to_json(const TransformerPart& part);

}  // namespace elias
