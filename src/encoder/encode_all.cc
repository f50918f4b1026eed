#include "encoder/encode_all.h"

#include <algorithm>

namespace elias {

void encode_all(const Context& context, const EncoderWeights& weights, const PointsView& points,
                const std::function<void(size_t begin, ConstTensorView phi)>& use) {
  constexpr size_t kPointsPerPass = 1024, kTokensPerPass = 8192;
  const PackedEncoder packed(context, weights);
  EncoderRoom room;
  for (size_t begin = 0; begin < points.rows(); begin += kPointsPerPass) {
    const size_t end = std::min(begin + kPointsPerPass, points.rows());
    use(begin, room.encode(context, packed, points, begin, end, kTokensPerPass));
  }
}

}  // namespace elias
