#include "encoder/encode_all.h"

#include <algorithm>

namespace elias {

void encode_all(const Context& context, const EncoderWeights& weights, const PointsView& points,
                const std::function<void(size_t begin, ConstTensorView phi)>& use) {
  const PackedEncoder encoder(context, weights);
  EncoderRoom room;
  encode_all(context, encoder, room, points, use);
}

void encode_all(const Context& context, const PackedEncoder& encoder, EncoderRoom& room,
                const PointsView& points,
                const std::function<void(size_t begin, ConstTensorView phi)>& use) {
  constexpr size_t kPointsPerPass = 1024, kTokensPerPass = 8192;
  for (size_t begin = 0; begin < points.rows(); begin += kPointsPerPass) {
    const size_t end = std::min(begin + kPointsPerPass, points.rows());
    use(begin, room.encode(context, encoder, points, begin, end, kTokensPerPass));
  }
}

}  // namespace elias
