// A transformer of the BERT family: the tokens of a point to hidden states, and these to a vector.
//
//   h = Dropout(LayerNorm(word + position + type)) of each token
//   for each layer: h = LayerNorm(h + Dropout(attention(h)));
//                   h = LayerNorm(h + Dropout(W_down GELU(W_up h)))
//   h of the point = that of its first token, or the mean of all        (before encoder/phi.h)
//
// Where the first token alone is wanted, the last layer makes keys and values of all tokens and
// everything else of first ones alone: nothing else would be read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/token_batch.h"
#include "encoder/transformer_layer.h"
#include "encoder/transformer_weights.h"
#include "ops/context.h"
#include "ops/lookup/row_gradient.h"
#include "ops/product/linear.h"
#include "ops/tensor.h"

namespace elias {

/// Which tokens' last hidden states are wanted.
enum class TokensWanted : uint8_t { kAll, kFirst };

/// What pooling reads.
inline TokensWanted wanted_by(Pooling pooling) {
  return pooling == Pooling::kFirst ? TokensWanted::kFirst : TokensWanted::kAll;
}

/// The matrices as products of one pass read them.
struct PackedTransformer {
  std::vector<PackedTransformerLayer> layers;
  TokensWanted wanted = TokensWanted::kAll;
  Precision precision = Precision::kFloat32;
};

PackedTransformer pack_transformer(const Context& context,
                                   const TransformerWeights<ConstTensorView>& weights,
                                   PackedFor use, Precision precision, TokensWanted wanted);

/// What training adds: rates and where random numbers come from.
struct TokenNoise {
  float hidden = 0;     // of embeddings, and of what each part of a layer adds
  float attention = 0;  // of attention's probabilities
  uint64_t seed = 0;
  uint64_t step = 0;  // below 2^56; every step drops others

  DropoutKey embedding_key() const;
  LayerNoise of_layer(size_t i) const;
};

/// What a forward pass leaves for the backward pass. Kept between batches.
class TransformerActivations {
 public:
  /// The wanted hidden states of the last forward pass: [T, D] of all tokens, or [N, D].
  ConstTensorView hidden() const { return hidden_; }

 private:
  friend class TransformerPass;

  Tensor embedded_, mean_, inverse_, first_;  // sums of embeddings; the first layer's input
  std::vector<LayerActivations> layers_;
  LayerRoom room_;
  Tensor dh_;
  ConstTensorView hidden_;
};

/// Bytes that a forward pass keeps of a token for the backward pass.
int64_t activation_bytes(const TransformerShape& shape, Precision precision);

/// `keep`: for a backward pass. Without noise: as in prediction.
void encode_tokens(const Context& context, const TransformerWeights<ConstTensorView>& weights,
                   const PackedTransformer& packed, const TokenBatch& batch,
                   const std::optional<TokenNoise>& noise, bool keep,
                   TransformerActivations& activations);

/// From dhidden, of the shape of hidden(), which is overwritten: the gradient of the sums of each
/// token's embeddings, dembedded [T, D]; adds to those of all other weights but the table. `packed`
/// is for the input gradient; all else is as the last forward pass had it.
void encode_tokens_backward(const Context& context,
                            const TransformerWeights<ConstTensorView>& weights,
                            const PackedTransformer& packed, const TokenBatch& batch,
                            const std::optional<TokenNoise>& noise, TensorView dhidden,
                            TransformerActivations& activations,
                            const TransformerWeights<TensorView>& gradients, TensorView dembedded);

/// What pooling makes of the hidden states it wants: vectors [N, D]; and back.
void pool_tokens(const Context& context, Pooling pooling, const TokenBatch& batch,
                 ConstTensorView hidden, TensorView pooled);
void pool_tokens_backward(const Context& context, Pooling pooling, const TokenBatch& batch,
                          ConstTensorView dpooled, TensorView dhidden);

}  // namespace elias
