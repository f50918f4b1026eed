#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace elias {
namespace {

using Block = std::array<uint32_t, 4>;

// Known answers published with the generator (Random123's kat_vectors).
TEST(Random, PhiloxGivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, ValueIsAFunctionOfSeedStreamAndPosition) {
  std::set<uint64_t> seen;
  for (uint64_t seed : {0, 1}) {
    for (uint64_t stream : {0, 1}) {
      for (uint64_t position : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
        EXPECT_EQ(Random(seed, stream).bits(position), Random(seed, stream).bits(position));
        seen.insert(Random(seed, stream).bits(position));
      }
    }
  }
  EXPECT_EQ(seen.size(), 12u);
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  const Random random(7, 1);
  constexpr int kDraws = 100000, kBins = 20;
  std::vector<int> bins(kBins);
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.uniform(static_cast<uint64_t>(i));
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    ++bins[static_cast<size_t>(value * kBins)];
  }
  double chi_square = 0;
  for (int count : bins) chi_square += std::pow(count - kDraws / kBins, 2) / (kDraws / kBins);
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom, p = 0.001
}

TEST(Random, BelowStaysBelowAndReachesEveryValue) {
  const Random random(7, 2);
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 1000; ++i) {
    seen.insert(random.below(i, 10));
    EXPECT_EQ(random.below(i, 1), 0u);
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(*seen.rbegin(), 9u);
}

TEST(Random, SequenceReadsTheStreamInOrder) {
  const Random random(3, 4);
  RandomSequence sequence(3, 4);
  EXPECT_EQ(sequence.bits(), random.bits(0));
  EXPECT_EQ(sequence.uniform(), random.uniform(1));
  EXPECT_EQ(sequence.below(100), random.below(2, 100));
}

}  // namespace
}  // namespace elias
