#include "encoder/encode_all.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encoder/word_dropout.h"
#include "tests/data/sparse.h"
#include "tests/encoder/own_transformer.h"
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

// The same of a transformer, however many tokens are worked on at a time.
TEST(EncodeAll, GivesEveryTextTheVectorItHasAlone) {
  OwnTransformer own({.vocabulary = 30,
                      .positions = 12,
                      .types = 0,
                      .width = 8,
                      .heads = 2,
                      .inner = 12,
                      .layers = 2});
  std::vector<size_t> lengths(1300);
  for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1 + i * 7 % 12;
  const TokenRows rows = random_tokens(lengths, 30);
  Csr features;
  features.offsets.assign(lengths.size() + 1, 0);
  ThreadPool pool(2);
  const Context context(pool);
  for (const Pooling pooling : {Pooling::kFirst, Pooling::kMean}) {
    own.shape.pooling = pooling;
    const EncoderWeights weights(TransformerEncoder{.weights = own.views<ConstTensorView>()});
    const PackedEncoder packed(context, weights);
    EncoderRoom room;
    size_t next = 0;
    encode_all(context, weights, {features, rows}, [&](size_t begin, ConstTensorView phi) {
      ASSERT_EQ(begin, next);
      next += static_cast<size_t>(phi.rows());
      for (size_t i = begin; i < next; i += 97) {
        const ConstTensorView alone =
            room.encode(context, packed, {features, rows}, i, i + 1, /*tokens_at_once=*/1);
        const float* values = phi.data<float>() + static_cast<int64_t>(i - begin) * phi.stride();
        EXPECT_THAT(std::vector(values, values + 8),
                    testing::ElementsAreArray(alone.span<float>()));
      }
    });
    EXPECT_EQ(next, rows.rows());
  }
}

}  // namespace
}  // namespace elias
