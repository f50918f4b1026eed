#include "encoder/encode_all.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "encoder/word_dropout.h"

namespace elias {
namespace {

constexpr size_t kPointsPerPass = 1024;

}  // namespace

void encode_all(const Context& context, const BagWeights<ConstTensorView>& weights,
                const Csr& features,
                const std::function<void(size_t begin, ConstTensorView phi)>& use) {
  const PackedBag packed = pack_bag(context, weights, Precision::kFloat32);
  BagBatch bags;
  BagActivations activations;
  std::vector<uint32_t> rows;
  for (size_t begin = 0; begin < features.rows(); begin += kPointsPerPass) {
    rows.resize(std::min(kPointsPerPass, features.rows() - begin));
    std::iota(rows.begin(), rows.end(), static_cast<uint32_t>(begin));
    gather_bags(features, rows, 0, 0, 0, bags, context.pool());
    encode_bags(context, weights, packed, bags.view(), std::nullopt, activations);
    use(begin, activations.phi());
  }
}

}  // namespace elias
