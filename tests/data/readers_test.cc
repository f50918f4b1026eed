#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/random.h"
#include "data/io/byte_sink.h"
#include "data/io/npz.h"
#include "tests/data/reading.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

TEST(Tsv, ReadsIdsTextsAndGrades) {
  const auto read = read_text("3,1\tfirst text\n\tno labels\n0::0.5,2::1\twith\ttab\n");
  EXPECT_EQ(read.info.format, Format::kTsv);
  EXPECT_TRUE(read.info.has_text);
  EXPECT_EQ(read.points.texts.row(0), "first text");
  EXPECT_EQ(read.points.texts.row(1), "no labels");
  EXPECT_EQ(read.points.texts.row(2), "with\ttab");
  EXPECT_EQ(row_of(read.points.labels, 0), (Row{{1, 1}, {3, 1}}));
  EXPECT_EQ(row_of(read.points.labels, 1), (Row{}));
  EXPECT_EQ(row_of(read.points.labels, 2), (Row{{0, 0.5}, {2, 1}}));
  EXPECT_EQ(read.labels.size(), 4u);
  EXPECT_EQ(read.points.lines, (std::vector<uint64_t>{1, 2, 3}));
}

TEST(Tsv, ReadsNames) {
  const auto read = read_text("red,blue\ta\nblue,red::0.5,blue\tb\nx::y::0.25\tc\n");
  EXPECT_EQ(read.labels.size(), 3u);
  EXPECT_EQ(read.labels.name(LabelId(0)), "red");
  EXPECT_EQ(row_of(read.points.labels, 1), (Row{{0, 0.5}, {1, 1}}));
  EXPECT_EQ(read.points.repeated_labels, 1u);
  EXPECT_EQ(read.labels.name(LabelId(2)), "x::y");
  EXPECT_EQ(row_of(read.points.labels, 2), (Row{{2, 0.25}}));
}

TEST(Tsv, ZeroRelevanceIsNoLabel) {
  EXPECT_EQ(row_of(read_text("1::0,2\ta\n").points.labels, 0), (Row{{2, 1}}));
}

TEST(Tsv, ALabelFileMayBeMeantByIdOrByName) {
  const auto by_name = read_text("blue\ta\n", {}, 1, label_file("red\nblue\n"));
  EXPECT_EQ(row_of(by_name.points.labels, 0), (Row{{1, 1}}));
  const auto by_id = read_text("1\ta\n", {}, 1, label_file("red\nblue\n"));
  EXPECT_EQ(row_of(by_id.points.labels, 0), (Row{{1, 1}}));
  ReadOptions names;
  names.label_form = LabelForm::kNames;
  const auto forced = read_text("1\ta\n", names, 1, label_file("0\n2\n1\n"));
  EXPECT_EQ(row_of(forced.points.labels, 0), (Row{{2, 1}}));
}

TEST(Tsv, AcceptsCrlfAndByteOrderMark) {
  const auto read = read_text(
      "\xef\xbb\xbf"
      "1\tone\r\n2\ttwo\r\n");
  EXPECT_EQ(read.points.texts.row(0), "one");
  EXPECT_EQ(row_of(read.points.labels, 0), (Row{{1, 1}}));
}

TEST(FastText, LabelsStandAnywhere) {
  const auto read = read_text("__label__a  some __label__b words\n__label__b\nno label\n");
  EXPECT_EQ(read.info.format, Format::kFastText);
  EXPECT_EQ(read.points.texts.row(0), "some words");
  EXPECT_EQ(row_of(read.points.labels, 0), (Row{{0, 1}, {1, 1}}));
  EXPECT_EQ(read.points.texts.row(1), "");
  EXPECT_EQ(row_of(read.points.labels, 2), (Row{}));
  // Numbers are names to fastText.
  EXPECT_EQ(read_text("__label__2019 x\n").labels.size(), 1u);
}

TEST(JsonLines, ReadsTheTextForm) {
  const auto read = read_text(
      "{\"text\": \"a \\u00e9\", \"labels\": [\"x\", \"y\"]}\n"
      "{\"labels\": {\"y\": 0.5}, \"title\": \"t\", \"content\": \"c\", \"more\": {\"a\": [1]}}\n"
      "{\"title\": \"only\", \"content\": null, \"labels\": []}\n");
  EXPECT_EQ(read.info.format, Format::kJsonLines);
  EXPECT_EQ(read.points.texts.row(0), "a é");
  EXPECT_EQ(row_of(read.points.labels, 0), (Row{{0, 1}, {1, 1}}));
  EXPECT_EQ(read.points.texts.row(1), "t c");
  EXPECT_EQ(row_of(read.points.labels, 1), (Row{{1, 0.5}}));
  EXPECT_EQ(read.points.texts.row(2), "only");
}

TEST(JsonLines, ReadsTheTargetForm) {
  const auto read = read_text(
      "{\"uid\": \"B00\", \"title\": \"t\", \"content\": \"\", \"target_ind\": [7, 3], "
      "\"target_rel\": [1.0, 0.5]}\n");
  EXPECT_EQ(row_of(read.points.labels, 0), (Row{{3, 0.5}, {7, 1}}));
  EXPECT_EQ(read.labels.size(), 8u);
}

TEST(Sparse, ReadsWithHeader) {
  const auto read = read_text("3 10 5\n0,4 1:0.5 9:2\n 3:1\n2\n");
  EXPECT_EQ(read.info.format, Format::kSparse);
  EXPECT_EQ(read.labels.size(), 5u);
  EXPECT_EQ(read.points.features.cols, 10u);
  EXPECT_EQ(row_of(read.points.labels, 0), (Row{{0, 1}, {4, 1}}));
  EXPECT_EQ(row_of(read.points.features, 0), (Row{{1, 0.5}, {9, 2}}));
  EXPECT_EQ(row_of(read.points.labels, 1), (Row{}));
  EXPECT_EQ(row_of(read.points.features, 1), (Row{{3, 1}}));
  EXPECT_EQ(row_of(read.points.features, 2), (Row{}));
  EXPECT_EQ(read.points.lines, (std::vector<uint64_t>{2, 3, 4}));
}

TEST(Sparse, ReadsWithoutHeader) {
  const auto read = read_text("0,4 1:0.5\n3:1 4:1\n");
  EXPECT_FALSE(read.info.promised_rows.has_value());
  EXPECT_EQ(read.labels.size(), 5u);
  EXPECT_EQ(read.points.features.cols, 5u);
  EXPECT_EQ(row_of(read.points.labels, 1), (Row{}));
  EXPECT_EQ(row_of(read.points.features, 1), (Row{{3, 1}, {4, 1}}));
}

TEST(Sparse, EmptyLinesAreRowsAndRepeatsAddUp) {
  const auto read = read_text("2 5 5\n1,1 3:1 2:1 3:0.5\n\n");
  EXPECT_EQ(row_of(read.points.features, 0), (Row{{2, 1}, {3, 1.5}}));
  EXPECT_EQ(row_of(read.points.labels, 0), (Row{{1, 1}}));
  EXPECT_EQ(read.points.repeated_features, 1u);
  EXPECT_EQ(read.points.repeated_labels, 1u);
  EXPECT_EQ(read.points.rows(), 2u);
}

// Every size of block must give the same points: a header or a long row alone in one, a form of
// labels that shows late.
TEST(Blocks, TheirSizeDoesNotMatter) {
  const std::string row = "0,1 " + [] {
    std::string pairs;
    for (int i = 0; i < 50; ++i) pairs += fmt::format("{}:0.5 ", i);
    return pairs;
  }();
  const std::string sparse = "3 60 3\n" + row + "\n1 5:1\n\n";
  std::string late_ids, late_names;
  for (int i = 0; i < 20; ++i) late_ids += "\tno label\n";
  late_names = late_ids + "red,3\ttext\n";
  late_ids += "3,1\ttext\n";
  const std::string json =
      "{\"text\": \"a\", \"labels\": []}\n{\"text\": \"b\", \"labels\": [2]}\n";
  for (const std::string& text : {sparse, late_ids, late_names, json}) {
    const auto whole = read_text(text);
    for (size_t block_bytes = 3; block_bytes < 40; ++block_bytes) {
      ReadOptions options;
      options.block_bytes = block_bytes;
      const auto read = read_text(text, options);
      EXPECT_EQ(read.points.labels.columns, whole.points.labels.columns) << block_bytes;
      EXPECT_EQ(read.points.labels.offsets, whole.points.labels.offsets) << block_bytes;
      EXPECT_EQ(read.points.features.columns, whole.points.features.columns) << block_bytes;
      EXPECT_EQ(read.points.texts.bytes, whole.points.texts.bytes) << block_bytes;
      EXPECT_EQ(read.points.lines, whole.points.lines) << block_bytes;
      EXPECT_EQ(read.labels.size(), whole.labels.size()) << block_bytes;
    }
  }
  EXPECT_EQ(read_text(late_ids).labels.size(), 4u);
  EXPECT_EQ(read_text(late_names).labels.name(LabelId(0)), "red");
}

TEST(Lines, AreReadWhereLabelsAreIgnored) {
  ReadOptions options;
  options.labels = ReadOptions::Labels::kIgnored;
  const auto read = read_text("plain text\nmore of it\n", options);
  EXPECT_EQ(read.info.format, Format::kLines);
  EXPECT_EQ(read.points.texts.row(1), "more of it");
  EXPECT_EQ(read_text("{\"text\": \"a\"}\n", options).points.texts.row(0), "a");
}

TEST(OptionalLabels, AreReadWhereThereAreSome) {
  ReadOptions options;
  options.labels = ReadOptions::Labels::kOptional;
  EXPECT_EQ(read_text("plain text\n", options).info.format, Format::kLines);
  const auto read =
      read_text("{\"text\": \"a\", \"labels\": [\"x\"]}\n{\"text\": \"b\"}\n", options);
  EXPECT_EQ(read.points.labels.row(0).size(), 1u);
  EXPECT_EQ(read.points.labels.row(1).size(), 0u);
  EXPECT_EQ(read_text("red,blue\ta text\n", options).points.labels.row(0).size(), 2u);
  EXPECT_EQ(read_text("", options).points.rows(), 0u);
}

TEST(IgnoredLabels, MayBeOfAnyKind) {
  ReadOptions options;
  options.labels = ReadOptions::Labels::kIgnored;
  for (const char* text : {"1984\tplum\nbird\tcrow\n", "__label__1984 plum\n__label__a crow\n",
                           "{\"text\": \"plum\", \"labels\": [1984]}\n"
                           "{\"text\": \"crow\", \"labels\": [\"bird\"]}\n"}) {
    const auto read = read_text(text, options);
    EXPECT_EQ(read.points.rows(), 2u) << text;
    EXPECT_EQ(read.points.labels.nonzeros(), 0u) << text;
    EXPECT_EQ(read.points.texts.row(1), "crow") << text;
  }
  EXPECT_EQ(read_text("4294967296 0:1\n", options).points.features.nonzeros(), 1u);
}

class Pairs : public testing::Test {
 protected:
  Dataset read(const std::string& x, const std::string& y) {
    return read_dataset(folder_ / x + "," + (folder_ / y), {}, labels_, pool_);
  }
  void write(const std::string& name, const std::string& text) { write_file(folder_ / name, text); }

  TemporaryFolder folder_;
  LabelSpace labels_;
  ThreadPool pool_{2};
};

TEST_F(Pairs, ReadsMatricesTextsAndNpz) {
  write("x.txt", "2 4\n0:1 3:2\n\n");
  write("y.txt", "2 3\n2:1\n0:0.5 1:1\n");
  write("raw.txt", "first\nsecond\n");
  const Dataset features = read("x.txt", "y.txt");
  EXPECT_EQ(features.features.cols, 4u);
  EXPECT_EQ(row_of(features.features, 0), (Row{{0, 1}, {3, 2}}));
  EXPECT_EQ(row_of(features.labels, 1), (Row{{0, 0.5}, {1, 1}}));
  EXPECT_EQ(features.labels.cols, 3u);
  write_npz(folder_ / "x.npz", features.features);
  write_npz(folder_ / "y.npz", features.labels);
  const Dataset npz = read("x.npz", "y.npz");
  EXPECT_EQ(npz.features.columns, features.features.columns);
  EXPECT_EQ(npz.features.cols, 4u);
  EXPECT_EQ(npz.labels.values, features.labels.values);
  const Dataset texts = read("raw.txt", "y.npz");
  EXPECT_TRUE(texts.info.has_text);
  EXPECT_EQ(texts.texts.row(1), "second");
}

TEST_F(Pairs, TextsThatLookLikeNumbersAreTextsIfToldSo) {
  write("raw.txt", "2001 1984\n3:10 to Yuma\n");
  write("y.txt", "2 3\n2:1\n0:1\n");
  EXPECT_THROW(read("raw.txt", "y.txt"), InputError);
  ReadOptions options;
  options.format = Format::kLines;
  const Dataset data =
      read_dataset(folder_ / "raw.txt" + "," + (folder_ / "y.txt"), options, labels_, pool_);
  EXPECT_EQ(data.texts.row(0), "2001 1984");
  write("film.txt", "3:10 to Yuma\nAlien\n");
  EXPECT_EQ(read("film.txt", "y.txt").texts.row(0), "3:10 to Yuma");
  options.format = Format::kNpz;
  EXPECT_THROW(
      read_dataset(folder_ / "film.txt" + "," + (folder_ / "y.txt"), options, labels_, pool_),
      InputError);
}

TEST_F(Pairs, NpzMayBeGzipped) {
  Csr matrix;
  matrix.cols = 3;
  matrix.columns = {1};
  matrix.values = {1};
  matrix.finish_row(Csr::Repeats::kSum);
  write_npz(folder_ / "y.npz", matrix);
  const auto packed = create_bytes(folder_ / "y.npz.gz");
  packed->write(read_all(*open_bytes(folder_ / "y.npz")));
  packed->commit();
  std::filesystem::rename(folder_ / "y.npz.gz", folder_ / "z.npz");
  write("raw.txt", "a text\n");
  EXPECT_EQ(row_of(read("raw.txt", "z.npz").labels, 0), (Row{{1, 1}}));
}

TEST_F(Pairs, RowsMustAgree) {
  write("x.txt", "2 4\n0:1\n\n");
  write("y.txt", "3 3\n2:1\n\n0:1\n");
  EXPECT_THROW(read("x.txt", "y.txt"), InputError);
  write("long.txt", "4 4\n0:1\n\n\n\n");
  EXPECT_THROW(read("long.txt", "y.txt"), InputError);
}

TEST_F(Pairs, AFileNameMayHoldAComma) {
  write("a,b.txt", "1\ttext\n");
  const Dataset data = read_dataset(folder_ / "a,b.txt", {}, labels_, pool_);
  EXPECT_EQ(data.rows(), 1u);
}

// A file long enough for many blocks and waves, in each format.
std::string long_file(Format format) {
  RandomSequence random(5, 5);
  std::string text = format == Format::kSparse ? "60000 100000 5000\n" : "";
  for (int row = 0; row < 60000; ++row) {
    const uint64_t a = random.below(5000), b = random.below(5000);
    switch (format) {
      case Format::kSparse:
        text += fmt::format("{},{} {}:{:.4f} {}:1 {}:0.25", a, b, random.below(100000),
                            random.uniform(), random.below(100000), random.below(100000));
        break;
      case Format::kTsv:
        text += fmt::format("n{},n{}\twords of the text {} and {}", a, b, row, random.bits());
        break;
      case Format::kFastText:
        text += fmt::format("__label__{} words of {}", a, random.bits());
        break;
      default:
        text += fmt::format("{{\"text\": \"words of {}\", \"labels\": [\"{}\", \"{}\"]}}",
                            random.bits(), a, b);
    }
    text += '\n';
  }
  return text;
}

class LongFiles : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, LongFiles,
                         testing::Values(Format::kSparse, Format::kTsv, Format::kFastText,
                                         Format::kJsonLines));

TEST(Points, WithoutLabelsMayBeTheXOfAPair) {
  ReadOptions options;
  options.labels = ReadOptions::Labels::kIgnored;
  const auto matrix = read_text("2 5\n1:0.5 4:2\n\n", options);
  EXPECT_TRUE(matrix.info.has_features);
  EXPECT_EQ(matrix.points.features.cols, 5u);
  EXPECT_EQ(row_of(matrix.points.features, 0), (Row{{1, 0.5}, {4, 2}}));
  EXPECT_EQ(matrix.points.rows(), 2u);
  options.format = Format::kLines;
  EXPECT_EQ(read_text("2 5\n", options).points.texts.row(0), "2 5");

  TemporaryFolder folder;
  write_npz(folder / "x.npz", matrix.points.features);
  ThreadPool pool(2);
  LabelSpace labels;
  options.format.reset();
  const auto reader = open_points(folder / "x.npz", options, labels, pool);
  PointBatch batch;
  ASSERT_TRUE(reader->next(batch));
  EXPECT_EQ(row_of(batch.features, 0), (Row{{1, 0.5}, {4, 2}}));
}

TEST(Points, AsTheyComeAreThoseOfAFile) {
  ReadOptions options;
  options.as_it_comes = true;
  const auto read = read_text("3,1\tfirst\n2\tsecond\n", options, 3);
  EXPECT_EQ(read.points.rows(), 2u);
  EXPECT_EQ(read.points.texts.row(1), "second");
}

TEST_P(LongFiles, AreTheSameAtAnyThreadCount) {
  const std::string text = long_file(GetParam());
  const auto one = read_text(text, {}, 1);
  ASSERT_EQ(one.points.rows(), 60000u);
  for (int threads : {2, 3, 7}) {
    const auto many = read_text(text, {}, threads);
    EXPECT_EQ(many.points.labels.columns, one.points.labels.columns);
    EXPECT_EQ(many.points.labels.offsets, one.points.labels.offsets);
    EXPECT_EQ(many.points.features.columns, one.points.features.columns);
    EXPECT_EQ(many.points.features.values, one.points.features.values);
    EXPECT_EQ(many.points.texts.bytes, one.points.texts.bytes);
    EXPECT_EQ(many.points.lines, one.points.lines);
    EXPECT_EQ(many.labels.names().rows().bytes, one.labels.names().rows().bytes);
  }
}

// Two bad lines in different blocks: the message is about the first one, always.
TEST_P(LongFiles, ReportTheFirstBadLineAtAnyThreadCount) {
  std::string text = long_file(GetParam());
  const std::string bad = "\xff bad";
  for (size_t at : {text.size() / 3, text.size() * 2 / 3})
    text.insert(text.find('\n', at) + 1, bad);
  const std::string one = read_error(text, {}, 1);
  EXPECT_THAT(one, testing::StartsWith("f.txt:"));
  for (int threads : {2, 3, 7}) EXPECT_EQ(read_error(text, {}, threads), one);
}

}  // namespace
}  // namespace elias
