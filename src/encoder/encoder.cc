#include "encoder/encoder.h"

#include <limits>
#include <numeric>
#include <optional>

#include "base/errors.h"
#include "ops/room.h"

namespace elias {

int64_t EncoderWeights::width() const {
  return reads_tokens() ? transformer().weights.shape.width : bag().table.width();
}

int64_t EncoderWeights::layers() const {
  return reads_tokens() ? transformer().weights.shape.layers
                        : static_cast<int64_t>(bag().layers.size());
}

PackedEncoder::PackedEncoder(const Context& context, const EncoderWeights& weights)
    : weights_(&weights) {
  if (!weights.reads_tokens()) {
    bag_ = pack_bag(context, weights.bag(), Precision::kFloat32);
    return;
  }
  const TransformerEncoder& own = weights.transformer();
  transformer_ = pack_transformer(context, own.weights, PackedFor::kForward, own.precision,
                                  wanted_by(own.weights.shape.pooling));
}

ConstTensorView EncoderRoom::encode(const Context& context, const PackedEncoder& encoder,
                                    const PointsView& points, size_t begin, size_t end,
                                    size_t tokens_at_once) {
  if (!encoder.weights_->reads_tokens()) {
    return encode_features(context, encoder, points.features(), begin, end);
  }
  ELIAS_ASSERT(points.has_tokens() || points.rows() == 0);
  static const TokenRows kNone;
  const TokenRows& rows = points.has_tokens() ? points.tokens() : kNone;
  return encode_rows(context, encoder, rows, begin, end, tokens_at_once);
}

ConstTensorView EncoderRoom::encode_features(const Context& context, const PackedEncoder& encoder,
                                             const Csr& features, size_t begin, size_t end) {
  const size_t first = features.offsets[begin];
  offsets_.resize(end - begin + 1);
  for (size_t i = begin; i <= end; ++i) {
    const size_t offset = features.offsets[i] - first;
    ELIAS_ASSERT(offset <= std::numeric_limits<int32_t>::max());
    offsets_[i - begin] = static_cast<int32_t>(offset);
  }
  const auto size = static_cast<int64_t>(features.offsets[end] - first);
  // Feature ids are below V, which fits: of unsigned and signed numbers the bits are the same.
  const auto* ids = reinterpret_cast<const int32_t*>(features.columns.data() + first);
  const Bags bags{.offsets = {offsets_.data(), {std::ssize(offsets_)}},
                  .ids = {ids, {size}},
                  .weights = {features.values.data() + first, {size}}};
  encode_bags(context, encoder.weights_->bag(), encoder.bag_, bags, std::nullopt, bag_);
  return bag_.phi();
}

ConstTensorView EncoderRoom::encode_rows(const Context& context, const PackedEncoder& encoder,
                                         const TokenRows& rows, size_t begin, size_t end,
                                         size_t tokens_at_once) {
  const TransformerEncoder& own = encoder.weights_->transformer();
  const TransformerShape& shape = own.weights.shape;
  const TensorView pooled = room(pooled_, {static_cast<int64_t>(end - begin), shape.width});
  for (size_t first = begin; first < end;) {
    size_t last = first + 1;
    while (last < end && rows.offsets[last + 1] - rows.offsets[first] <= tokens_at_once) ++last;
    points_.resize(last - first);
    std::iota(points_.begin(), points_.end(), static_cast<uint32_t>(first));
    batch_.gather(rows, points_, shape);
    encode_tokens(context, own.weights, encoder.transformer_, batch_, std::nullopt, /*keep=*/false,
                  transformer_);
    pool_tokens(
        context, shape.pooling, batch_, transformer_.hidden(),
        pooled.slice(static_cast<int64_t>(first - begin), static_cast<int64_t>(last - begin)));
    first = last;
  }
  return end_.forward(context, pooled, std::nullopt, own.unit);
}

}  // namespace elias
