#include "data/label_deciles.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"

namespace elias {
namespace {

TEST(LabelDeciles, TwentyLabelsGiveTwoADecile) {
  std::vector<uint64_t> counts(20);
  std::iota(counts.begin(), counts.end(), 1);  // label 19 is the most frequent
  const LabelDeciles deciles = label_deciles(counts);
  EXPECT_EQ(deciles.group_of[19], 1);
  EXPECT_EQ(deciles.group_of[18], 1);
  EXPECT_EQ(deciles.group_of[17], 2);
  EXPECT_EQ(deciles.group_of[0], 10);
  EXPECT_EQ(deciles.groups[1].most, 20u);
  EXPECT_EQ(deciles.groups[1].fewest, 19u);
  EXPECT_EQ(deciles.groups[1].positives, 39u);
  EXPECT_DOUBLE_EQ(deciles.groups[1].share, 39.0 / 210.0);
  EXPECT_EQ(deciles.groups[0].labels, 0u);
}

TEST(LabelDeciles, EqualCountsGoByIdSoSizesStayEqual) {
  const std::vector<uint64_t> counts(30, 7);
  const LabelDeciles deciles = label_deciles(counts);
  for (size_t l = 0; l < 30; ++l) EXPECT_EQ(deciles.group_of[l], 1 + l / 3);
}

TEST(LabelDeciles, UnseenLabelsAreAGroupOfTheirOwn) {
  const std::vector<uint64_t> counts{0, 5, 0, 3};
  const LabelDeciles deciles = label_deciles(counts);
  EXPECT_EQ(deciles.group_of, (std::vector<uint8_t>{0, 1, 0, 6}));
  EXPECT_EQ(deciles.groups[0].labels, 2u);
  EXPECT_EQ(deciles.groups[0].most, 0u);
  EXPECT_EQ(group_name(0), "unseen");
  EXPECT_EQ(group_name(10), "10");
}

TEST(LabelDeciles, NothingSeenIsNoDivisionByZero) {
  for (const LabelDeciles& deciles :
       {label_deciles({}), label_deciles(std::vector<uint64_t>{0, 0})}) {
    for (const auto& group : deciles.groups) EXPECT_EQ(group.share, 0.0);
  }
}

TEST(LabelDeciles, RandomCountsFallInOrderAndInEqualSizes) {
  RandomSequence random(1, 0);
  for (int round = 0; round < 50; ++round) {
    std::vector<uint64_t> counts(random.below(200));
    for (auto& count : counts) count = random.below(12);
    const LabelDeciles deciles = label_deciles(counts);
    uint64_t smallest = counts.size(), largest = 0, labels = deciles.groups[0].labels;
    for (size_t d = 1; d <= 10; ++d) {
      smallest = std::min(smallest, deciles.groups[d].labels);
      largest = std::max(largest, deciles.groups[d].labels);
      labels += deciles.groups[d].labels;
      if (d > 1 && deciles.groups[d].labels > 0 && deciles.groups[d - 1].labels > 0) {
        EXPECT_LE(deciles.groups[d].most, deciles.groups[d - 1].fewest);
      }
    }
    EXPECT_LE(largest - smallest, 1u);
    EXPECT_EQ(labels, counts.size());
  }
}

}  // namespace
}  // namespace elias
