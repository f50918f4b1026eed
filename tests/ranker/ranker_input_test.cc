#include "ranker/ranker_input.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/data/sparse.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::IsEmpty;

constexpr int64_t kV = 10;

const std::vector<float> kPhi = {0, 3, 0, 4};

TEST(RankerInputTest, EachPartHasLengthOne) {
  const Csr words = csr_of(kV, {{{2, 2.0F}, {7, 0.0F}, {8, -1.5F}}});
  RankerInput both({.parts = RankerParts::kBoth});
  const CsrRow x = both.of(words.row(0), kV, kPhi);
  EXPECT_THAT(x.columns, ElementsAre(2, 7, 8, 11, 13));
  EXPECT_THAT(x.values,
              ElementsAre(FloatEq(0.8F), 0, FloatEq(-0.6F), FloatEq(0.6F), FloatEq(0.8F)));
  RankerInput vector({.parts = RankerParts::kVector});
  EXPECT_THAT(vector.of(words.row(0), kV, kPhi).columns, ElementsAre(11, 13));
  RankerInput alone({.parts = RankerParts::kWords});
  EXPECT_THAT(alone.of(words.row(0), kV, {}).columns, ElementsAre(2, 7, 8));
}

TEST(RankerInputTest, ColumnsAreThoseOfItsParts) {
  EXPECT_EQ(ranker_columns({.parts = RankerParts::kWords}, kV, 4), 10);
  EXPECT_EQ(ranker_columns({.parts = RankerParts::kVector}, kV, 4), 14);
  EXPECT_EQ(ranker_columns({.parts = RankerParts::kBoth}, kV, 4), 14);
}

TEST(RankerInputTest, KeepsTheLargestWordsAndOfEqualOnesTheFirst) {
  const Csr words =
      csr_of(kV, {{{0, 0.1F}, {1, 0.5F}, {3, -2.0F}, {5, 0.5F}, {6, 1.0F}, {9, 0.5F}}});
  const auto columns = [&](int64_t most) {
    RankerInput input({.most_words = most});
    const CsrRow x = input.of(words.row(0), kV, {});
    double sum = 0;
    for (const float value : x.values) sum += double{value} * double{value};
    EXPECT_NEAR(sum, 1, 1e-6);
    return std::vector<uint32_t>(x.columns.begin(), x.columns.end());
  };
  EXPECT_THAT(columns(1), ElementsAre(3));
  EXPECT_THAT(columns(3), ElementsAre(1, 3, 6));
  EXPECT_THAT(columns(4), ElementsAre(1, 3, 5, 6));
  EXPECT_THAT(columns(6), ElementsAre(0, 1, 3, 5, 6, 9));
  EXPECT_THAT(columns(100), ElementsAre(0, 1, 3, 5, 6, 9));
}

TEST(RankerInputTest, TakesPointsOfZerosAndOfNothing) {
  const Csr words = csr_of(kV, {{}, {{1, 0.0F}}});
  RankerInput input({.parts = RankerParts::kBoth});
  EXPECT_THAT(input.of(words.row(0), kV, std::vector<float>(4)).values, IsEmpty());
  EXPECT_THAT(input.of(words.row(1), kV, std::vector<float>(4)).values, ElementsAre(0));
}

}  // namespace
}  // namespace elias
