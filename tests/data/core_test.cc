#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "data/csr.h"
#include "data/label_space.h"
#include "data/string_table.h"
#include "tests/data/reading.h"

namespace elias {
namespace {

TEST(Csr, FinishRowSortsAndMergesRepeats) {
  for (const auto repeats : {Csr::Repeats::kSum, Csr::Repeats::kMaximum}) {
    Csr matrix;
    matrix.columns = {5, 2, 5};
    matrix.values = {1, 2, 3};
    EXPECT_EQ(matrix.finish_row(repeats), 1u);
    EXPECT_EQ(row_of(matrix, 0), (Row{{2, 2}, {5, repeats == Csr::Repeats::kSum ? 4.0f : 3.0f}}));
    EXPECT_EQ(matrix.finish_row(repeats), 0u);  // an empty row
    EXPECT_EQ(matrix.rows(), 2u);
  }
}

TEST(Csr, AppendAndCounts) {
  Csr first, second;
  first.cols = second.cols = 4;
  first.columns = {1, 3};
  first.values = {1, 1};
  first.finish_row(Csr::Repeats::kSum);
  second.finish_row(Csr::Repeats::kSum);
  second.columns = {3};
  second.values = {0.5};
  second.finish_row(Csr::Repeats::kSum);
  first.append(second);
  EXPECT_EQ(first.rows(), 3u);
  EXPECT_EQ(row_of(first, 2), (Row{{3, 0.5}}));
  EXPECT_EQ(column_counts(first), (std::vector<uint64_t>{0, 1, 0, 2}));
}

TEST(Csr, RowsAreSelectedAndScaled) {
  Csr matrix;
  matrix.cols = 4;
  matrix.columns = {0, 3};
  matrix.values = {3e-20F, -4e-20F};
  matrix.finish_row(Csr::Repeats::kSum);
  matrix.finish_row(Csr::Repeats::kSum);
  matrix.columns.push_back(1);
  matrix.values.push_back(0);
  matrix.finish_row(Csr::Repeats::kSum);
  const std::vector<size_t> rows = {2, 0, 0};
  Csr selected = select_rows(matrix, rows);
  EXPECT_EQ(selected.cols, 4u);
  EXPECT_EQ(selected.rows(), 3u);
  EXPECT_EQ(row_of(selected, 1), row_of(matrix, 0));
  scale_rows_to_unit_length(selected);
  EXPECT_EQ(row_of(selected, 0), (Row{{1, 0}}));
  EXPECT_EQ(row_of(selected, 2), (Row{{0, 0.6F}, {3, -0.8F}}));
}

TEST(Csr, RowsAreSampledEvenly) {
  Csr matrix;
  matrix.cols = 10;
  for (uint32_t row = 0; row < 10; ++row) {
    matrix.columns.push_back(row);
    matrix.values.push_back(1);
    matrix.finish_row(Csr::Repeats::kSum);
  }
  EXPECT_EQ(sample_rows(matrix, 3).columns, (std::vector<uint32_t>{0, 3, 6, 9}));
  EXPECT_EQ(sample_rows(matrix, 6).rows(), 10u);
  EXPECT_EQ(sample_rows(matrix, 100).rows(), 10u);
  EXPECT_EQ(sample_rows(Csr(), 3).rows(), 0u);
}

TEST(StringTable, AgreesWithAMapOnRandomStrings) {
  StringTable table;
  std::map<std::string, uint32_t> twin;
  RandomSequence random(1, 1);
  for (int i = 0; i < 20000; ++i) {
    std::string text(random.below(5), 'a');
    for (char& c : text) c = static_cast<char>('a' + random.below(4));
    EXPECT_EQ(table.find(text).has_value(), twin.contains(text));
    const auto [entry, added] = twin.emplace(text, static_cast<uint32_t>(twin.size()));
    EXPECT_EQ(table.intern(text), entry->second);
  }
  EXPECT_EQ(table.size(), twin.size());
  for (const auto& [text, id] : twin) EXPECT_EQ(table[id], text);
}

TEST(StringTable, AddKeepsRepeatsAndFindsTheFirst) {
  StringTable table;
  for (int i = 0; i < 100; ++i) table.add("same");
  table.add("other");
  EXPECT_EQ(table.size(), 101u);
  EXPECT_EQ(table.find("same"), 0u);
  EXPECT_EQ(table.find("other"), 100u);
}

TEST(LabelSpace, ReadsALabelFile) {
  LabelSpace space = label_file("first\nsecond\r\nthird");
  EXPECT_EQ(space.size(), 3u);
  EXPECT_EQ(space.name(LabelId(1)), "second");
  EXPECT_EQ(space.resolve_name("third", "x:1"), LabelId(2));
  try {
    space.resolve_name("fourth", "x:1");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "x:1: label 'fourth' is not in labels.txt: add it there, or mend the line");
  }
}

TEST(LabelSpace, RefusesBadLabelFiles) {
  EXPECT_THROW(label_file(""), InputError);
  EXPECT_THROW(label_file("good\nb\xff"
                          "d\n"),
               InputError);
}

TEST(LabelSpace, AnOpenSpaceHandsOutIdsInOrder) {
  LabelSpace space;
  EXPECT_EQ(space.resolve_name("b", ""), LabelId(0));
  EXPECT_EQ(space.resolve_name("a", ""), LabelId(1));
  EXPECT_EQ(space.resolve_name("b", ""), LabelId(0));
  EXPECT_EQ(space.size(), 2u);
  LabelSpace ids;
  ids.cover_ids(7);
  EXPECT_EQ(ids.size(), 7u);
  EXPECT_EQ(ids.name(LabelId(3)), "3");
}

}  // namespace
}  // namespace elias
