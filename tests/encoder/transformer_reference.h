// A transformer, slow and obvious, out of the references of its operators.
#pragma once

#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "encoder/transformer.h"
#include "tests/ops/attention_reference.h"
#include "tests/ops/dropout_reference.h"
#include "tests/ops/layer_norm_reference.h"
#include "tests/ops/linear_reference.h"
#include "tests/ops/residual_norm_reference.h"

namespace elias::reference {

template <typename T>
using TransformerValues = elias::TransformerWeights<std::vector<T>>;

/// The rows of h [T, D] that are first of their sequence.
template <typename T>
std::vector<T> first_rows(const std::vector<T>& h, std::span<const int32_t> offsets, size_t D) {
  std::vector<T> firsts;
  for (const int32_t begin : offsets.first(offsets.size() - 1)) {
    const auto row = h.begin() + begin * static_cast<ptrdiff_t>(D);
    firsts.insert(firsts.end(), row, row + static_cast<ptrdiff_t>(D));
  }
  return firsts;
}

/// The last hidden states [T, D] of all tokens, or [N, D] of first ones. Dropout counts the rows
/// that a layer has.
template <typename T>
std::vector<T> encode_tokens(const TransformerValues<T>& weights, std::span<const int32_t> offsets,
                             std::span<const int32_t> words, TokensWanted wanted,
                             const std::optional<TokenNoise>& noise) {
  const TransformerShape& shape = weights.shape;
  const auto D = static_cast<size_t>(shape.width), F = static_cast<size_t>(shape.inner);
  const size_t tokens = words.size();
  std::vector<T> sums(tokens * D);
  for (size_t n = 0; n + 1 < offsets.size(); ++n) {
    for (auto t = static_cast<size_t>(offsets[n]); t < static_cast<size_t>(offsets[n + 1]); ++t) {
      const auto place = static_cast<int64_t>(t) - offsets[n];
      for (size_t i = 0; i < D; ++i) {
        const auto at = [&](int64_t row) {
          return weights.table[static_cast<size_t>(row) * D + i];
        };
        sums[t * D + i] = at(words[t]) + at(shape.vocabulary + place);
        if (shape.types > 0) sums[t * D + i] += at(shape.vocabulary + shape.positions);
      }
    }
  }
  const T epsilon = shape.epsilon;
  std::vector<T> h = layer_norm(sums, weights.gain, weights.shift, epsilon).y;
  if (noise) h = dropout(h, noise->hidden, noise->embedding_key());
  for (size_t l = 0; l < weights.layers.size(); ++l) {
    const auto& layer = weights.layers[l];
    const LayerNoise own = noise ? noise->of_layer(l) : LayerNoise();
    const bool first_alone = wanted == TokensWanted::kFirst && l + 1 == weights.layers.size();
    const std::vector<T> all = h;
    if (first_alone) h = first_rows(all, offsets, D);
    const size_t rows = h.size() / D;
    const auto part = [&](size_t which, const std::vector<T>& x) {
      const auto slice = [&](const std::vector<T>& whole, size_t size) {
        const auto begin = whole.begin() + static_cast<ptrdiff_t>(which * size);
        return std::vector<T>(begin, begin + static_cast<ptrdiff_t>(size));
      };
      return linear(x, slice(layer.qkv_weights, D * D), slice(layer.qkv_bias, D), false,
                    x.size() / D, D, D);
    };
    AttentionSizes sizes{.query_offsets = {offsets.begin(), offsets.end()},
                         .offsets = {offsets.begin(), offsets.end()},
                         .heads = static_cast<size_t>(shape.heads),
                         .width = D,
                         .dropout = own.attention,
                         .key = own.key_at(LayerNoise::kProbabilities)};
    if (first_alone) std::iota(sizes.query_offsets.begin(), sizes.query_offsets.end(), 0);
    const auto attended = attention(sizes, part(0, h), part(1, all), part(2, all)).y;
    const auto mixed = linear(attended, layer.mix_weights, layer.mix_bias, false, rows, D, D);
    h = residual_norm(mixed, h, layer.attention_gain, layer.attention_shift, epsilon, own.hidden,
                      own.key_at(LayerNoise::kAttended))
            .norm.y;
    auto inner = linear(h, layer.up_weights, layer.up_bias, false, rows, D, F);
    for (T& value : inner) value = gelu(value);
    const auto down = linear(inner, layer.down_weights, layer.down_bias, false, rows, F, D);
    h = residual_norm(down, h, layer.output_gain, layer.output_shift, epsilon, own.hidden,
                      own.key_at(LayerNoise::kInner))
            .norm.y;
  }
  return h;
}

}  // namespace elias::reference
