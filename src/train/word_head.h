// From hidden states at masked places to words: a dense layer with GELU, a norm, and scores by the
// embeddings of words themselves, with a bias each (BERT's head of masked words).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "encoder/transformer_weights.h"
#include "head/word_loss.h"
#include "ops/context.h"
#include "ops/rows/layer_norm.h"
#include "ops/tensor.h"
#include "train/optimiser.h"

namespace elias {

class WordHead {
 public:
  WordHead(const Context& context, const TransformerShape& shape, uint64_t seed);

  std::array<Parameter*, 5> parameters() {
    return {&weights_, &bias_, &gain_, &shift_, &word_bias_};
  }

  /// Of h [M, D] and the table of a transformer, whose first rows are of words.
  WordSums evaluate(const Context& context, Precision precision, ConstTensorView table,
                    ConstTensorView h, std::span<const int32_t> targets);

  /// The gradient of the mean loss, dh [M, D]; adds to that of words [V, D] and of the head.
  WordSums learn(const Context& context, Precision precision, ConstTensorView table,
                 ConstTensorView h, std::span<const int32_t> targets, TensorView dh,
                 TensorView dwords);

 private:
  WordClassifier classifier(ConstTensorView table) const;
  LayerNormSaved saved(int64_t M);
  ConstTensorView transform(const Context& context, Precision precision, ConstTensorView h);

  TransformerShape shape_;
  Parameter weights_, bias_, gain_, shift_, word_bias_;
  Tensor before_, activated_, normed_, mean_, inverse_, dnormed_;
};

}  // namespace elias
