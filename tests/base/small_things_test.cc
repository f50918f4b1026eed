#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/aligned_buffer.h"
#include "base/edit_distance.h"
#include "base/errors.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/progress.h"
#include "base/readable.h"

namespace elias {
namespace {

TEST(Errors, AssertionNamesTheExpression) {
  try {
    ELIAS_ASSERT(1 + 1 == 3);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("broken invariant: 1 + 1 == 3"));
  }
}

TEST(Errors, ShownIsShortAndPrintable) {
  EXPECT_EQ(shown("a\tb"), "'a\\x09b'");
  EXPECT_EQ(shown(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
  // 'é' straddles the cut: it goes as a whole.
  EXPECT_EQ(shown(std::string(39, 'x') + "é"), "'" + std::string(39, 'x') + "...'");
  EXPECT_EQ(shown(std::string(38, 'x') + "éa"), "'" + std::string(38, 'x') + "é...'");
}

TEST(EditDistance, CountsBytesAddedTakenAndExchanged) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("beam", "beam"), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("widht", "width"), 2U);
}

// The hash is part of file formats: it must never change.
TEST(Hash, IsFixed) {
  EXPECT_EQ(hash_bytes(""), hash_bytes(std::string_view()));
  EXPECT_NE(hash_bytes("a"), hash_bytes(std::string_view("a\0", 2)));
  EXPECT_EQ(hash_bytes("elias"), 0x23f3aed0df6a4a14u);
  EXPECT_EQ(hash_bytes("extreme classification"), 0x68dcacfc8ac3e58au);
}

TEST(HashTest, PiecesAreHashedAsOneByOne) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 37 % 251);
  for (const size_t size : {0, 1, 7, 8, 63, 64, 100, 999, 1000}) {
    for (const size_t length : {1, 8, 13, 64, 2000}) {
      std::vector<uint64_t> hashes((size + length - 1) / length);
      hash_pieces(std::string_view(bytes).substr(0, size), length, hashes);
      for (size_t i = 0; i < hashes.size(); ++i) {
        const auto piece = std::string_view(bytes).substr(0, size).substr(i * length, length);
        EXPECT_EQ(hashes[i], hash_bytes(piece)) << size << " bytes, piece " << i;
      }
    }
  }
}

TEST(Ids, CompareAndDoNotMix) {
  static_assert(!std::is_convertible_v<LabelId, ClusterId>);
  static_assert(!std::is_convertible_v<uint32_t, LabelId>);
  EXPECT_LT(LabelId(1), LabelId(2));
  EXPECT_EQ(LabelId(7).value(), 7u);
}

TEST(AlignedBuffer, IsAlignedZeroedAndMoves) {
  // The last is large enough for huge pages.
  for (size_t size : {1, 3, 1000, (4 << 18) + 5}) {
    AlignedBuffer<float> buffer(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kAlignment, 0u);
    for (float value : buffer.span()) EXPECT_EQ(value, 0.0f);
    AlignedBuffer<float> other = std::move(buffer);
    EXPECT_EQ(other.size(), size);
    EXPECT_EQ(buffer.size(), 0u);
  }
  EXPECT_EQ(AlignedBuffer<float>(0).span().size(), 0u);
  EXPECT_THROW(allocate_aligned(SIZE_MAX - 5, 1), std::bad_alloc);
  EXPECT_THROW(allocate_aligned(SIZE_MAX / 4 + 2, 4), std::bad_alloc);
}

TEST(Progress, TextTellsShareRateAndTimeLeft) {
  EXPECT_EQ(progress_text("reading", "points", 500, 1000, 5),
            "reading  500 points  50%  100 points/s  5 s left");
  EXPECT_EQ(progress_text("reading", "B", 2500000, 0, 1), "reading  2.5M B  2.5M B/s");
}

TEST(Progress, CountsAreShort) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(1000), "1.0k");
  EXPECT_EQ(short_count(99960), "100k");
  EXPECT_EQ(short_count(1.5e9), "1.5G");
}

TEST(Readable, AFloatIsTheShortestNumber) {
  EXPECT_EQ(shortest(0.1F), 0.1);
  EXPECT_EQ(shortest(-2.5e-30F), -2.5e-30);
  EXPECT_EQ(shortest(3), 3.0);
}

}  // namespace
}  // namespace elias
