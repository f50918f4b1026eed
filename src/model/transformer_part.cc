#include "model/transformer_part.h"

#include <array>
#include <string_view>

#include "base/errors.h"
#include "base/readable.h"
#include "model/config_values.h"

namespace elias {
namespace {

using config_values::Json;
using config_values::named;
using config_values::real;
using config_values::whole;

constexpr std::array<std::string_view, 2> kPoolings = {"first", "mean"};
constexpr std::array<std::string_view, 2> kPrecisions = {"float32", "bfloat16"};

}  // namespace

TransformerPart transformer_from(const Json& json, int64_t width, int64_t layers,
                                 const std::string& path) {
  const TransformerShape shape{.vocabulary = whole(json, "vocabulary", path),
                               .positions = whole(json, "positions", path),
                               .types = whole(json, "types", path),
                               .width = width,
                               .heads = whole(json, "heads", path),
                               .inner = whole(json, "inner", path),
                               .layers = layers,
                               .epsilon = static_cast<float>(real(json, "epsilon", path)),
                               .pooling = named<Pooling>(json, "pooling", kPoolings, path)};
  check_shape(shape, path);
  TransformerPart part{
      .config = {.architecture =
                     named<Architecture>(json, "architecture", kArchitectureNames, path),
                 .shape = shape,
                 .hidden_dropout = static_cast<float>(real(json, "hidden_dropout", path)),
                 .attention_dropout = static_cast<float>(real(json, "attention_dropout", path))},
      .max_length = whole(json, "max_length", path),
      .unit = json.at("unit").get<bool>(),
      .precision = named<Precision>(json, "precision", kPrecisions, path)};
  // Models from before these were noted have BERT's.
  part.pad_token = json.value("pad_token", part.pad_token);
  part.mask_token = json.value("mask_token", part.mask_token);
  for (const float rate : {part.config.hidden_dropout, part.config.attention_dropout}) {
    if (rate >= 0 && rate < 1) continue;
    throw InputError("{}: a rate of dropout of {} cannot be: copy the model again", path, rate);
  }
  if (part.max_length < 1 || part.max_length > shape.positions) {
    throw InputError("{}: texts of {} tokens for {} positions cannot be: copy the model again",
                     path, part.max_length, shape.positions);
  }
  return part;
}

Json to_json(const TransformerPart& part) {
  const auto& [architecture, shape, hidden_dropout, attention_dropout] = part.config;
  return {{"architecture", kArchitectureNames[static_cast<size_t>(architecture)]},
          {"vocabulary", shape.vocabulary},
          {"positions", shape.positions},
          {"types", shape.types},
          {"heads", shape.heads},
          {"inner", shape.inner},
          {"epsilon", shortest(shape.epsilon)},
          {"pooling", kPoolings[static_cast<size_t>(shape.pooling)]},
          {"hidden_dropout", shortest(hidden_dropout)},
          {"attention_dropout", shortest(attention_dropout)},
          {"max_length", part.max_length},
          {"unit", part.unit},
          {"precision", kPrecisions[static_cast<size_t>(part.precision)]},
          {"pad_token", part.pad_token},
          {"mask_token", part.mask_token}};
}

}  // namespace elias
