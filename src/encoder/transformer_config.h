// What a transformer is, as a config.json of Hugging Face says it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/transformer_weights.h"

namespace elias {

/// Which of their models it is: the names of its tensors and settings differ, the mathematics do
/// not.
enum class Architecture : uint8_t { kBert, kDistilBert };

/// What config.json calls them, theirs and that of a model of ours.
inline constexpr std::array<std::string_view, 2> kArchitectureNames = {"bert", "distilbert"};

struct TransformerConfig {
  Architecture architecture = Architecture::kBert;
  TransformerShape shape;       // but for pooling, of which the file says nothing
  float hidden_dropout = 0.1F;  // of training
  float attention_dropout = 0.1F;
};

/// Throws InputError, with `name` in front, if it is not of an architecture that is known here.
TransformerConfig parse_transformer_config(std::string_view json, const std::string& name);

/// The text of a config.json that transformers' AutoModel reads. `pad`: the id of the token that
/// others pad texts with, if there is one.
std::string transformer_config_text(const TransformerConfig& config,
                                    std::optional<uint32_t> pad = std::nullopt);

}  // namespace elias
