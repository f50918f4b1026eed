#include "data/label_matrix.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

class LabelMatrixTest : public testing::Test {
 protected:
  LabelMatrix read(const std::string& text) {
    write_file(folder_ / "y", text);
    LabelSpace labels;
    return read_label_matrix(folder_ / "y", {}, labels, pool_);
  }

  TemporaryFolder folder_;
  ThreadPool pool_{1};
};

TEST_F(LabelMatrixTest, OfPointsWithTexts) {
  const LabelMatrix matrix = read("3,1\tone text\n\tno label\n0\tanother\n");
  EXPECT_EQ(matrix.labels.offsets, (std::vector<uint64_t>{0, 2, 2, 3}));
  EXPECT_EQ(matrix.labels.columns, (std::vector<uint32_t>{1, 3, 0}));
  EXPECT_EQ(matrix.labels.cols, 4u);
  EXPECT_FALSE(matrix.promised);
}

TEST_F(LabelMatrixTest, OfPointsWithFeaturesAndAHeader) {
  const LabelMatrix matrix = read("2 5 7\n3,1 0:1 4:2\n6 1:1\n");
  EXPECT_EQ(matrix.labels.columns, (std::vector<uint32_t>{1, 3, 6}));
  EXPECT_EQ(matrix.promised, 7u);
}

TEST_F(LabelMatrixTest, OnItsOwn) {
  const LabelMatrix matrix = read("2 7\n3:1 1:0.5\n6:1\n");
  EXPECT_EQ(matrix.labels.columns, (std::vector<uint32_t>{1, 3, 6}));
  EXPECT_EQ(matrix.labels.cols, 7u);
  EXPECT_EQ(matrix.promised, 7u);
}

}  // namespace
}  // namespace elias
