#include "data/point_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/reading.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

class Writers : public testing::Test {
 protected:
  // Writes what `text` holds to `path` in `format` and reads the file as bytes.
  std::string convert(const std::string& text, Format format, const std::string& path = "out") {
    ReadResult read = read_text(text);
    const auto writer = create_points(folder_ / path, format, read.info, read.labels);
    writer->write(read.points);
    writer->commit();
    return read_all(*open_bytes(folder_ / path));
  }

  // The same, then read back.
  ReadResult round_trip(const std::string& text, Format format) {
    return read_text(convert(text, format));
  }

  TemporaryFolder folder_;
};

const std::string kTexts = "red,blue::0.5\tfirst text\n\tno label\nblue\tthird é\n";

void expect_same_points(const ReadResult& a, const ReadResult& b) {
  EXPECT_EQ(a.points.texts.bytes, b.points.texts.bytes);
  EXPECT_EQ(a.points.features.columns, b.points.features.columns);
  EXPECT_EQ(a.points.features.values, b.points.features.values);
  ASSERT_EQ(a.points.rows(), b.points.rows());
  for (size_t i = 0; i < a.points.rows(); ++i) {
    EXPECT_EQ(row_of(a.points.labels, i), row_of(b.points.labels, i));
  }
  for (uint32_t i = 0; i < a.labels.size(); ++i) {
    EXPECT_EQ(a.labels.name(LabelId(i)), b.labels.name(LabelId(i)));
  }
}

TEST_F(Writers, TextFormatsRoundTrip) {
  const std::string plain = "red,blue\tfirst text\n\tno label\nblue\tthird é\n";
  expect_same_points(round_trip(kTexts, Format::kTsv), read_text(kTexts));
  expect_same_points(round_trip(kTexts, Format::kJsonLines), read_text(kTexts));
  expect_same_points(round_trip(plain, Format::kFastText), read_text(plain));
  const std::string ids = "3,1::0.25\ta\n0\tb\n";
  expect_same_points(round_trip(ids, Format::kTsv), read_text(ids));
  expect_same_points(round_trip(ids, Format::kJsonLines), read_text(ids));
}

TEST_F(Writers, TheirExactBytes) {
  EXPECT_EQ(convert(kTexts, Format::kTsv), kTexts);
  EXPECT_EQ(convert(kTexts, Format::kJsonLines),
            "{\"text\":\"first text\",\"labels\":[\"red\",\"blue\"],\"scores\":[1.0,0.5]}\n"
            "{\"text\":\"no label\",\"labels\":[]}\n"
            "{\"text\":\"third é\",\"labels\":[\"blue\"]}\n");
  EXPECT_EQ(convert("big dog\ta\n", Format::kFastText), "__label__big_dog a\n");
  EXPECT_EQ(convert("{\"text\": \"a\\nb\", \"labels\": [1]}\n", Format::kTsv), "1\ta b\n");
  EXPECT_EQ(convert("2 9 5\n4,0 8:0.1 2:1\n 3:1\n", Format::kSparse),
            "2 9 5\n0,4 2:1 8:0.1\n 3:1\n");
}

TEST_F(Writers, SparseRoundTrips) {
  const std::string text = "3 9 5\n0,4 2:1 8:0.1\n 3:1\n1\n";
  EXPECT_EQ(convert(text, Format::kSparse), text);
}

TEST_F(Writers, PairsRoundTrip) {
  const std::string text = "3 9 5\n0,4 2:1 8:0.1\n 3:1\n1\n";
  for (const Format format : {Format::kMatrix, Format::kNpz}) {
    ReadResult read = read_text(text);
    const std::string path = (folder_ / "x") + "," + (folder_ / "y");
    const auto writer = create_points(path, format, read.info, read.labels);
    writer->write(read.points);
    writer->commit();
    LabelSpace labels;
    ThreadPool pool(1);
    const Dataset back = read_dataset(path, {}, labels, pool);
    EXPECT_EQ(back.features.columns, read.points.features.columns);
    EXPECT_EQ(back.features.values, read.points.features.values);
    EXPECT_EQ(back.features.cols, 9u);
    EXPECT_EQ(back.labels.offsets, read.points.labels.offsets);
    EXPECT_EQ(back.labels.columns, read.points.labels.columns);
    EXPECT_EQ(back.labels.cols, 5u);
  }
}

TEST_F(Writers, GzipByName) { EXPECT_EQ(convert(kTexts, Format::kTsv, "out.gz"), kTexts); }

TEST_F(Writers, RefuseWhatTheFormatCannotHold) {
  EXPECT_THROW(convert(kTexts, Format::kSparse), InputError);    // text
  EXPECT_THROW(convert(kTexts, Format::kFastText), InputError);  // grades
  EXPECT_THROW(convert(kTexts, Format::kNpz), InputError);       // one file for two matrices
  EXPECT_THROW(convert("a b\tx\na_b\ty\n", Format::kFastText), InputError);
  EXPECT_THROW(convert("a\tsee __label__b\n", Format::kFastText), InputError);
  EXPECT_THROW(convert("1 9 5\n1 2:1\n", Format::kTsv), InputError);
  EXPECT_THROW(convert("{\"text\": \"a\", \"labels\": [\"x,y\"]}\n", Format::kTsv), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
}  // namespace elias
