#include "encoder/encode_all.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encoder/word_dropout.h"
#include "tests/data/sparse.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

// Pieces come in order and hold every point once, with the vector it has alone.
TEST(EncodeAll, GivesEveryPointTheVectorItHasAlone) {
  constexpr int64_t V = 30, D = 5;
  const Tensor table = random_floats({V, D}, 1), gain = random_floats({D}, 2),
               shift = random_floats({D}, 3);
  const BagWeights<ConstTensorView> weights{table, gain, shift, {}};
  ThreadPool pool(2);
  const Context context(pool);
  const PackedBag packed = pack_bag(context, weights, Precision::kFloat32);
  const Csr features = random_csr(2500, V, 8, 9, 4);
  size_t next = 0;
  encode_all(context, weights, features, [&](size_t begin, ConstTensorView phi) {
    ASSERT_EQ(begin, next);
    next += static_cast<size_t>(phi.rows());
    for (int64_t i = 0; i < phi.rows(); i += 100) {
      BagBatch bag;
      BagActivations alone;
      const std::vector<uint32_t> row = {static_cast<uint32_t>(begin) + static_cast<uint32_t>(i)};
      gather_bags(features, row, 0, 0, 0, bag, pool);
      encode_bags(context, weights, packed, bag.view(), std::nullopt, alone);
      const float* values = phi.data<float>() + i * phi.stride();
      EXPECT_THAT(std::vector(values, values + D),
                  testing::ElementsAreArray(alone.phi().span<float>()));
    }
  });
  EXPECT_EQ(next, features.rows());
}

}  // namespace
}  // namespace elias
