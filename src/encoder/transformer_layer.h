// One layer of a transformer, forward and backward: attention and two dense layers, each with a
// residual and a layer norm behind it.
#pragma once

#include <cstdint>

#include "encoder/transformer_weights.h"
#include "ops/attention/attention.h"
#include "ops/context.h"
#include "ops/product/linear.h"
#include "ops/rows/residual_norm.h"
#include "ops/tensor.h"

namespace elias {

/// The matrices of a layer as products read them.
struct PackedTransformerLayer {
  PackedWeights qkv, mix, up, down;
  PackedWeights kv;  // where only some tokens have queries: then qkv has those alone
};

/// For one pass. `first_alone`: only the first token of a sequence has a query.
PackedTransformerLayer pack_layer(const Context& context,
                                  const TransformerLayer<ConstTensorView>& layer, PackedFor use,
                                  Precision precision, bool first_alone);

/// How much dropout of a layer drops, and where it takes its random numbers from.
struct LayerNoise {
  /// What is dropped from: attention's probabilities, and what attention and dense layers add.
  enum Place : uint64_t { kProbabilities = 1, kAttended, kInner };

  float hidden = 0;     // rate, of kAttended and kInner
  float attention = 0;  // rate, of kProbabilities
  DropoutKey key{};     // of the layer

  DropoutKey key_at(Place place) const;
};

/// What a layer's forward pass leaves for its backward pass, and room for both. In kBFloat16, what
/// products read is kept in bfloat16; what residuals are made of is float32.
struct LayerActivations {
  Tensor qkv, first_kv, first_input, attended, log_sums;
  Tensor attention_sum, attention_mean, attention_inverse, attention_output;
  Tensor before_gelu, inner;
  Tensor output_sum, output_mean, output_inverse, output;
};

/// The same of one layer at a time, for the backward pass.
struct LayerRoom {
  Tensor dbranch, dinner, dattended, dqkv, dkv;
};

/// The tokens of a batch, sequence behind sequence.
struct TokenOffsets {
  ConstTensorView offsets;  // [N + 1] int32, none without tokens
  ConstTensorView firsts;   // [N + 1] int32: 0, 1, 2 ... N

  int64_t sequences() const { return offsets.width() - 1; }
};

class LayerPass {
 public:
  /// All must outlive the object.
  LayerPass(const Context& context, const TransformerShape& shape, Precision precision,
            const TokenOffsets& tokens, bool first_alone)
      : context_(context),
        shape_(shape),
        precision_(precision),
        tokens_(tokens),
        first_alone_(first_alone) {}

  /// h [T, D] becomes the layer's output, [T, D] or, of first tokens alone, [N, D], in kept.output.
  /// Without `keep` it leaves nothing for a backward pass, and takes less memory.
  TensorView forward(const TransformerLayer<ConstTensorView>& layer,
                     const PackedTransformerLayer& packed, const LayerNoise& noise,
                     ConstTensorView h, bool keep, LayerActivations& kept) const;

  /// dh, the gradient of the output, which is overwritten, becomes that of h [T, D]: in its own
  /// memory or, of first tokens alone, in `dh_all` [T, D].
  void backward(const TransformerLayer<ConstTensorView>& layer,
                const PackedTransformerLayer& packed, const LayerNoise& noise, ConstTensorView h,
                LayerActivations& kept, LayerRoom& room, TensorView dh, TensorView dh_all,
                const TransformerLayer<TensorView>& gradients) const;

 private:
  DType stored() const {
    return precision_ == Precision::kBFloat16 ? DType::kBFloat16 : DType::kFloat32;
  }
  AttentionInput attention_input(const LayerNoise& noise, LayerActivations& kept,
                                 int64_t tokens) const;
  ConstTensorView project(const TransformerLayer<ConstTensorView>& layer,
                          const PackedTransformerLayer& packed, ConstTensorView h,
                          LayerActivations& kept) const;
  void attention_part_backward(const PackedTransformerLayer& packed, const LayerNoise& noise,
                               ConstTensorView h, LayerActivations& kept, LayerRoom& room,
                               TensorView dh, TensorView dh_all,
                               const TransformerLayer<TensorView>& gradients) const;
  void add_gradients(ConstTensorView dy, ConstTensorView x, TensorView dw, TensorView db) const;

  const Context& context_;
  const TransformerShape& shape_;
  Precision precision_;
  const TokenOffsets& tokens_;
  bool first_alone_;
};

}  // namespace elias
