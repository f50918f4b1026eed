// The encoder of a model, of either kind: a bag of embeddings (encoder/bag.h), or a transformer
// (encoder/transformer.h).
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "encoder/bag.h"
#include "encoder/phi.h"
#include "encoder/points.h"
#include "encoder/transformer.h"
#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// A transformer, and what becomes of its hidden states.
struct TransformerEncoder {
  TransformerWeights<ConstTensorView> weights;
  bool unit = false;  // phi has unit length
  Precision precision = Precision::kBFloat16;
};

class EncoderWeights {
 public:
  EncoderWeights() = default;
  EncoderWeights(BagWeights<ConstTensorView> bag)  // NOLINT(google-explicit-constructor)
      : weights_(std::move(bag)) {}
  EncoderWeights(TransformerEncoder transformer)  // NOLINT(google-explicit-constructor)
      : weights_(std::move(transformer)) {}

  /// Else it reads features.
  bool reads_tokens() const { return std::holds_alternative<TransformerEncoder>(weights_); }
  int64_t width() const;   // D
  int64_t layers() const;  // of a transformer, or residual ones

  const BagWeights<ConstTensorView>& bag() const {
    return std::get<BagWeights<ConstTensorView>>(weights_);
  }
  BagWeights<ConstTensorView>& bag() { return std::get<BagWeights<ConstTensorView>>(weights_); }
  const TransformerEncoder& transformer() const { return std::get<TransformerEncoder>(weights_); }

 private:
  std::variant<BagWeights<ConstTensorView>, TransformerEncoder> weights_;
};

/// The weights as products read them, for prediction: shared by all threads. The weights must
/// outlive it.
class PackedEncoder {
 public:
  PackedEncoder() = default;
  PackedEncoder(const Context& context, const EncoderWeights& weights);

 private:
  friend class EncoderRoom;
  const EncoderWeights* weights_ = nullptr;
  PackedBag bag_;
  PackedTransformer transformer_;
};

/// One thread's room for encoding points as in prediction, without noise.
class EncoderRoom {
 public:
  /// phi [n, D] of the rows [begin, end) of the points; valid until the next call. Of a
  /// transformer, about as many tokens are worked on at the same time.
  ConstTensorView encode(const Context& context, const PackedEncoder& encoder,
                         const PointsView& points, size_t begin, size_t end, size_t tokens_at_once);

 private:
  ConstTensorView encode_features(const Context& context, const PackedEncoder& encoder,
                                  const Csr& features, size_t begin, size_t end);
  ConstTensorView encode_rows(const Context& context, const PackedEncoder& encoder,
                              const TokenRows& rows, size_t begin, size_t end,
                              size_t tokens_at_once);

  std::vector<int32_t> offsets_;
  BagActivations bag_;
  TokenBatch batch_;
  std::vector<uint32_t> points_;
  TransformerActivations transformer_;
  Tensor pooled_;
  PhiEnd end_;
};

}  // namespace elias
