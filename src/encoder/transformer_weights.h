// What a transformer of the BERT family is made of: its sizes, and its weights by name.
//
// BERT and DistilBERT are one architecture here (post-norm, learned positions, GELU): DistilBERT
// has no token types. The embeddings of words, positions and types are rows of one table, so that a
// token is a bag of three features. Query, key and value are one matrix, so that one product makes
// all three. Weights are views, so that training, a memory-mapped model and averages run through
// the same code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/tensor.h"

namespace elias {

/// What of a sequence's last hidden states becomes phi: that of its first token ([CLS]), or the
/// mean of all.
enum class Pooling : uint8_t { kFirst, kMean };

struct TransformerShape {
  int64_t vocabulary = 0;   // V
  int64_t positions = 512;  // P, the longest sequence
  int64_t types = 0;        // of tokens, as BERT tells sentences apart; 0: there are none
  int64_t width = 0;        // D, a multiple of heads
  int64_t heads = 0;        // H
  int64_t inner = 0;        // F, of the layers between attentions
  int64_t layers = 0;
  float epsilon = 1e-12F;  // of the layer norms
  Pooling pooling = Pooling::kFirst;
  bool operator==(const TransformerShape&) const = default;

  /// Rows of the table: words, then positions, then types.
  int64_t table_rows() const { return vocabulary + positions + types; }
};

/// View is ConstTensorView to read, TensorView for gradients.
template <typename View>
struct TransformerLayer {
  View qkv_weights, qkv_bias;            // [3D, D], [3D]: query, key, value
  View mix_weights, mix_bias;            // [D, D], [D]: what becomes of all heads together
  View attention_gain, attention_shift;  // [D], of the layer norm behind the attention
  View up_weights, up_bias;              // [F, D], [F], before GELU
  View down_weights, down_bias;          // [D, F], [D]
  View output_gain, output_shift;        // [D], of the layer norm behind them
};

template <typename View>
struct TransformerWeights {
  View table;        // [V + P + S, D]; not used in gradients
  View gain, shift;  // [D], of the layer norm of a token's embeddings
  std::vector<TransformerLayer<View>> layers;
  TransformerShape shape{};  // not used in gradients
};

/// Calls use(name, part) for the parts of a layer.
template <typename Layer, typename Use>
void for_layer_parts(Layer& layer, const Use& use) {
  use("qkv.weights", layer.qkv_weights);
  use("qkv.bias", layer.qkv_bias);
  use("mix.weights", layer.mix_weights);
  use("mix.bias", layer.mix_bias);
  use("attention.gain", layer.attention_gain);
  use("attention.shift", layer.attention_shift);
  use("up.weights", layer.up_weights);
  use("up.bias", layer.up_bias);
  use("down.weights", layer.down_weights);
  use("down.bias", layer.down_bias);
  use("output.gain", layer.output_gain);
  use("output.shift", layer.output_shift);
}

/// Calls use(name, part) for all weights: "table", "gain", "shift", "layers.0.qkv.weights", ...
template <typename Weights, typename Use>
void for_parts(Weights& weights, const Use& use) {
  use(std::string("table"), weights.table);
  use(std::string("gain"), weights.gain);
  use(std::string("shift"), weights.shift);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    for_layer_parts(weights.layers[i],
                    [&](const char* name, auto& part) { use(layer + name, part); });
  }
}

/// Weights of that shape with nothing in them yet.
template <typename View>
TransformerWeights<View> empty_weights(const TransformerShape& shape) {
  TransformerWeights<View> weights;
  weights.layers.resize(static_cast<size_t>(shape.layers));
  weights.shape = shape;
  return weights;
}

/// Calls use(name, part, other) for all weights of two of one shape.
template <typename Weights, typename Others, typename Use>
void for_both_parts(Weights& weights, Others& others, const Use& use) {
  std::vector<decltype(&others.table)> parts;
  for_parts(others, [&](const std::string&, auto& part) { parts.push_back(&part); });
  size_t next = 0;
  for_parts(weights, [&](const std::string& name, auto& part) { use(name, part, *parts[next++]); });
}

/// Views of weights that somebody owns.
template <typename View, typename Owned>
TransformerWeights<View> views_of(Owned& owned) {
  auto views = empty_weights<View>(owned.shape);
  for_both_parts(views, owned, [](const std::string&, View& view, auto& part) { view = part; });
  return views;
}

/// The shape of each part.
TransformerWeights<Shape> part_shapes(const TransformerShape& shape);

/// How many numbers all parts have together; floating, as sizes may be made up.
double weight_count(const TransformerShape& shape);

/// Throws InputError, with `name` in front, if the sizes do not go together.
void check_shape(const TransformerShape& shape, const std::string& name);

}  // namespace elias
