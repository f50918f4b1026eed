#include "encoder/transformer.h"

#include <algorithm>

#include "base/hash.h"
#include "ops/lookup/embedding_bag.h"
#include "ops/room.h"
#include "ops/rows/dropout.h"
#include "ops/rows/layer_norm.h"
#include "ops/rows/row_access.h"

namespace elias {
namespace {

constexpr uint64_t kTransformerStreams = uint64_t{3} << 56;  // apart from those of other uses

DropoutKey key_of(const TokenNoise& noise, uint64_t number) {
  return {.seed = mix_bits(noise.seed + number, 0xD6E8FEB86659FD93),
          .stream = kTransformerStreams + noise.step};
}

}  // namespace

DropoutKey TokenNoise::embedding_key() const { return key_of(*this, 0); }

LayerNoise TokenNoise::of_layer(size_t i) const {
  return {.hidden = hidden, .attention = attention, .key = key_of(*this, 1 + i)};
}

PackedTransformer pack_transformer(const Context& context,
                                   const TransformerWeights<ConstTensorView>& weights,
                                   PackedFor use, Precision precision, TokensWanted wanted) {
  PackedTransformer packed{.layers = {}, .wanted = wanted, .precision = precision};
  const size_t layers = weights.layers.size();
  for (size_t i = 0; i < layers; ++i) {
    const bool first_alone = wanted == TokensWanted::kFirst && i + 1 == layers;
    packed.layers.push_back(pack_layer(context, weights.layers[i], use, precision, first_alone));
  }
  return packed;
}

// A batch's passes.
class TransformerPass {
 public:
  TransformerPass(const Context& context, const TransformerWeights<ConstTensorView>& weights,
                  const PackedTransformer& packed, const TokenBatch& batch,
                  const std::optional<TokenNoise>& noise, TransformerActivations& kept)
      : context_(context),
        weights_(weights),
        packed_(packed),
        batch_(batch),
        tokens_(batch.offsets()),
        noise_(noise),
        kept_(kept),
        matrix_{batch.tokens(), weights.shape.width} {
    ELIAS_ASSERT(packed.layers.size() == weights.layers.size());
  }

  void forward(bool keep) {
    // Without a backward pass two layers' rooms are enough, in turns.
    kept_.layers_.resize(std::max(kept_.layers_.size(), keep ? layers() : size_t{2}));
    ConstTensorView h = embed();
    for (size_t i = 0; i < layers(); ++i) {
      LayerActivations& room = kept_.layers_[keep ? i : i % 2];
      h = pass(i).forward(weights_.layers[i], packed_.layers[i], noise_of(i), h, keep, room);
    }
    kept_.hidden_ = h;
  }

  void backward(TensorView dhidden, const TransformerWeights<TensorView>& gradients,
                TensorView dembedded) {
    ELIAS_ASSERT(kept_.hidden_.shape() == dhidden.shape() && dembedded.shape() == matrix_);
    TensorView dh = dhidden;
    for (size_t i = layers(); i-- > 0;) {
      const bool first_alone = is_first_alone(i);
      const TensorView all = first_alone ? room(kept_.dh_, matrix_) : TensorView();
      pass(i).backward(weights_.layers[i], packed_.layers[i], noise_of(i), input_of(i),
                       kept_.layers_[i], kept_.room_, dh, all, gradients.layers[i]);
      if (first_alone) dh = all;
    }
    if (noise_ && noise_->hidden > 0) {
      dropout(context_, dh, noise_->hidden, noise_->embedding_key(), dh);
    }
    layer_norm_backward(context_, dh, room(kept_.embedded_, matrix_), weights_.gain,
                        embedding_stats(), dembedded, gradients.gain, gradients.shift);
  }

 private:
  size_t layers() const { return weights_.layers.size(); }
  bool is_first_alone(size_t i) const {
    return packed_.wanted == TokensWanted::kFirst && i + 1 == layers();
  }

  LayerPass pass(size_t i) const {
    return {context_, weights_.shape, packed_.precision, tokens_, is_first_alone(i)};
  }

  LayerNoise noise_of(size_t i) const { return noise_ ? noise_->of_layer(i) : LayerNoise(); }

  ConstTensorView input_of(size_t i) const {
    return i == 0 ? room(kept_.first_, matrix_) : room(kept_.layers_[i - 1].output, matrix_);
  }

  LayerNormSaved embedding_stats() const {
    return {room(kept_.mean_, {matrix_[0]}), room(kept_.inverse_, {matrix_[0]})};
  }

  ConstTensorView embed() {
    const TensorView sums = room(kept_.embedded_, matrix_), h = room(kept_.first_, matrix_);
    embedding_bag(context_, batch_.embeddings(), weights_.table, sums);
    layer_norm(context_, sums, weights_.gain, weights_.shift, weights_.shape.epsilon, h,
               embedding_stats());
    if (noise_ && noise_->hidden > 0) {
      dropout(context_, h, noise_->hidden, noise_->embedding_key(), h);
    }
    return h;
  }

  const Context& context_;
  const TransformerWeights<ConstTensorView>& weights_;
  const PackedTransformer& packed_;
  const TokenBatch& batch_;
  TokenOffsets tokens_;
  const std::optional<TokenNoise>& noise_;
  TransformerActivations& kept_;
  Shape matrix_;  // [T, D]
};

int64_t activation_bytes(const TransformerShape& shape, Precision precision) {
  const int64_t stored = precision == Precision::kBFloat16 ? 2 : 4;
  const int64_t D = shape.width, F = shape.inner;
  const int64_t of_layer = stored * (6 * D + 2 * F) + 4 * (2 * D + shape.heads);
  // And the sums of embeddings, what the first layer reads, and gradients of one layer.
  return shape.layers * of_layer + 12 * D + stored * (5 * D + F);
}

void encode_tokens(const Context& context, const TransformerWeights<ConstTensorView>& weights,
                   const PackedTransformer& packed, const TokenBatch& batch,
                   const std::optional<TokenNoise>& noise, bool keep,
                   TransformerActivations& activations) {
  TransformerPass(context, weights, packed, batch, noise, activations).forward(keep);
}

void encode_tokens_backward(const Context& context,
                            const TransformerWeights<ConstTensorView>& weights,
                            const PackedTransformer& packed, const TokenBatch& batch,
                            const std::optional<TokenNoise>& noise, TensorView dhidden,
                            TransformerActivations& activations,
                            const TransformerWeights<TensorView>& gradients, TensorView dembedded) {
  TransformerPass(context, weights, packed, batch, noise, activations)
      .backward(dhidden, gradients, dembedded);
}

void pool_tokens(const Context& context, Pooling pooling, const TokenBatch& batch,
                 ConstTensorView hidden, TensorView pooled) {
  if (pooling == Pooling::kFirst) return copy(hidden, pooled);
  const auto offsets = batch.offsets().offsets.span<int32_t>();
  for_rows(context.pool(), static_cast<size_t>(batch.points()), [&](size_t n) {
    const auto sum = row_of(pooled, n);
    std::ranges::fill(sum, 0.0F);
    for (auto t = static_cast<size_t>(offsets[n]); t < static_cast<size_t>(offsets[n + 1]); ++t) {
      const auto row = row_of(hidden, t);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += row[i];
    }
    const float share = 1 / static_cast<float>(offsets[n + 1] - offsets[n]);
    for (float& value : sum) value *= share;
  });
}

void pool_tokens_backward(const Context& context, Pooling pooling, const TokenBatch& batch,
                          ConstTensorView dpooled, TensorView dhidden) {
  if (pooling == Pooling::kFirst) return copy(dpooled, dhidden);
  const auto offsets = batch.offsets().offsets.span<int32_t>();
  for_rows(context.pool(), static_cast<size_t>(batch.points()), [&](size_t n) {
    const auto from = row_of(dpooled, n);
    const float share = 1 / static_cast<float>(offsets[n + 1] - offsets[n]);
    for (auto t = static_cast<size_t>(offsets[n]); t < static_cast<size_t>(offsets[n + 1]); ++t) {
      const auto to = row_of(dhidden, t);
      for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] * share;
    }
  });
}

}  // namespace elias
