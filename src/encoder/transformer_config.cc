#include "encoder/transformer_config.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/readable.h"

namespace elias {
namespace {

using Json = nlohmann::ordered_json;

/// The names of an architecture's settings.
struct Names {
  const char* model;  // "BertModel"
  const char *width, *layers, *heads, *inner, *activation, *hidden_dropout, *attention_dropout;
};

constexpr Names kNames[] = {
    {"BertModel", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
     "hidden_act", "hidden_dropout_prob", "attention_probs_dropout_prob"},
    {"DistilBertModel", "dim", "n_layers", "n_heads", "hidden_dim", "activation", "dropout",
     "attention_dropout"}};

class Reader {
 public:
  Reader(const Json& json, const std::string& name) : json_(json), name_(name) {}

  std::string value_text(const char* key) const {
    if (!json_.contains(key)) return "missing";
    const Json& value = json_.at(key);
    return shown(value.is_string() ? value.get<std::string>() : value.dump());
  }

  [[noreturn]] void refuse(const char* key, std::string_view supported) const {
    throw InputError(
        "{}: \"{}\" is {}, but only {} is known here: give the folder of a BERT or "
        "DistilBERT model",
        name_, key, value_text(key), supported);
  }

  int64_t whole(const char* key) const {
    if (!json_.contains(key) || !json_.at(key).is_number_integer()) {
      throw InputError("{}: \"{}\" is {}, but must be a whole number: save the model again", name_,
                       key, value_text(key));
    }
    const Json& value = json_.at(key);
    constexpr int64_t kMost = int64_t{1} << 40;  // what is larger is refused by check_shape
    return value.is_number_unsigned() && value.get<uint64_t>() > kMost ? kMost
                                                                       : value.get<int64_t>();
  }

  float epsilon() const {
    if (!json_.contains("layer_norm_eps")) return TransformerShape().epsilon;
    const Json& value = json_.at("layer_norm_eps");
    if (value.is_number()) return value.get<float>();
    throw InputError("{}: \"layer_norm_eps\" is {}, but must be a number: save the model again",
                     name_, value_text("layer_norm_eps"));
  }

  void refuse_if_set(const char* key) const {
    if (json_.contains(key) && json_.at(key) != false) refuse(key, "false");
  }

  float rate(const char* key, float usual) const {
    if (!json_.contains(key)) return usual;
    const float value = json_.at(key).is_number() ? json_.at(key).get<float>() : NAN;
    if (value >= 0 && value < 1) return value;
    throw InputError("{}: \"{}\" is {}, but must be in [0, 1): correct it", name_, key,
                     shown(json_.at(key).dump()));
  }

  void require(const char* key, const char* wanted) const {
    if (json_.contains(key) && json_.at(key) != wanted) refuse(key, wanted);
  }

  Architecture architecture() const {
    for (size_t known = 0; known < kArchitectureNames.size(); ++known) {
      if (json_.value("model_type", "") == kArchitectureNames[known]) {
        return static_cast<Architecture>(known);
      }
    }
    refuse("model_type", "bert or distilbert");
  }

 private:
  const Json& json_;
  const std::string& name_;
};

}  // namespace

TransformerConfig parse_transformer_config(std::string_view text, const std::string& name) try {
  const Json json = Json::parse(text);
  const Reader reader(json, name);
  TransformerConfig config{.architecture = reader.architecture(), .shape = {}};
  const Names& names = kNames[static_cast<size_t>(config.architecture)];
  reader.require(names.activation, "gelu");
  reader.require("position_embedding_type", "absolute");
  config.shape = {
      .vocabulary = reader.whole("vocab_size"),
      .positions = reader.whole("max_position_embeddings"),
      .types = config.architecture == Architecture::kBert ? reader.whole("type_vocab_size") : 0,
      .width = reader.whole(names.width),
      .heads = reader.whole(names.heads),
      .inner = reader.whole(names.inner),
      .layers = reader.whole(names.layers)};
  // DistilBERT's is always that of the shape.
  if (config.architecture == Architecture::kBert) config.shape.epsilon = reader.epsilon();
  reader.refuse_if_set("is_decoder");
  reader.refuse_if_set("add_cross_attention");
  config.hidden_dropout = reader.rate(names.hidden_dropout, config.hidden_dropout);
  config.attention_dropout = reader.rate(names.attention_dropout, config.attention_dropout);
  check_shape(config.shape, name);
  return config;
} catch (const Json::exception&) {
  throw InputError("{}: is not the config.json of a model: save the model again", name);
}

std::string transformer_config_text(const TransformerConfig& config, std::optional<uint32_t> pad) {
  const Names& names = kNames[static_cast<size_t>(config.architecture)];
  const TransformerShape& shape = config.shape;
  Json json = {{"architectures", {names.model}},
               {"model_type", kArchitectureNames[static_cast<size_t>(config.architecture)]},
               {"vocab_size", shape.vocabulary},
               {"max_position_embeddings", shape.positions},
               {names.width, shape.width},
               {names.layers, shape.layers},
               {names.heads, shape.heads},
               {names.inner, shape.inner},
               {names.activation, "gelu"},
               {names.hidden_dropout, shortest(config.hidden_dropout)},
               {names.attention_dropout, shortest(config.attention_dropout)},
               {"pad_token_id", pad ? Json(*pad) : Json()},
               {"torch_dtype", "float32"}};
  if (config.architecture == Architecture::kBert) {
    json["type_vocab_size"] = shape.types;
    json["layer_norm_eps"] = shortest(shape.epsilon);
    json["position_embedding_type"] = "absolute";
  }
  return json.dump(2) + "\n";
}

}  // namespace elias
