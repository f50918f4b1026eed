// The vectors of many points, without noise: as in prediction.
#pragma once

#include <cstddef>
#include <functional>

#include "encoder/encoder.h"
#include "encoder/points.h"
#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// Calls use(begin, phi) for one piece of the points after the other: phi [n, D] of those from
/// `begin` on, valid during the call.
void encode_all(const Context& context, const EncoderWeights& weights, const PointsView& points,
                const std::function<void(size_t begin, ConstTensorView phi)>& use);

/// The same again and again, of points that come in batches: weights are packed once.
void encode_all(const Context& context, const PackedEncoder& encoder, EncoderRoom& room,
                const PointsView& points,
                const std::function<void(size_t begin, ConstTensorView phi)>& use);

}  // namespace elias
