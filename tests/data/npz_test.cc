#include "data/io/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/errors.h"
#include "base/random.h"
#include "tests/data/reading.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Csr from_bytes(const std::string& bytes) {
  return read_npz(std::as_bytes(std::span(bytes)), "m.npz");
}

std::string error_of(const std::string& bytes) {
  try {
    from_bytes(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Csr random_matrix(size_t rows, uint64_t cols) {
  RandomSequence random(3, 3);
  Csr matrix;
  matrix.cols = cols;
  for (size_t row = 0; row < rows; ++row) {
    for (uint64_t i = random.below(5); i > 0; --i) {
      matrix.columns.push_back(static_cast<uint32_t>(random.below(cols)));
      matrix.values.push_back(static_cast<float>(random.uniform()));
    }
    matrix.finish_row(Csr::Repeats::kMaximum);
  }
  return matrix;
}

std::string written(const Csr& matrix) {
  TemporaryFolder folder;
  write_npz(folder / "m.npz", matrix);
  return bytes_of(folder / "m.npz");
}

TEST(Npz, RoundTrip) {
  for (const Csr& matrix : {random_matrix(1000, 50), random_matrix(1, 1), random_matrix(0, 7)}) {
    const Csr back = from_bytes(written(matrix));
    EXPECT_EQ(back.cols, matrix.cols);
    EXPECT_EQ(back.offsets, matrix.offsets);
    EXPECT_EQ(back.columns, matrix.columns);
    EXPECT_EQ(back.values, matrix.values);
  }
}

// Files that scipy wrote (tests/data/npz/make.py): the same matrix in many guises.
class ScipyFiles : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Files, ScipyFiles,
                         testing::Values("deflated", "stored", "float64_int64", "bool", "int8",
                                         "unsorted", "array"));

TEST_P(ScipyFiles, AreRead) {
  const Csr matrix = read_npz(std::string(ELIAS_TEST_DATA) + "/npz/" + GetParam() + ".npz");
  EXPECT_EQ(matrix.cols, 5u);
  EXPECT_EQ(matrix.rows(), 4u);
  EXPECT_EQ(row_of(matrix, 0), (Row{{0, 1}, {3, 1}}));
  EXPECT_EQ(row_of(matrix, 1), (Row{}));
  EXPECT_EQ(row_of(matrix, 2), (Row{{1, 1}, {2, 1}, {4, 1}}));
  EXPECT_EQ(row_of(matrix, 3), (Row{{4, 1}}));
}

TEST(Npz, RefusesWhatIsNotACsrMatrix) {
  const auto error = [](const char* name) {
    return error_of(bytes_of(std::string(ELIAS_TEST_DATA) + "/npz/" + name + ".npz"));
  };
  EXPECT_EQ(error("csc"), "m.npz: is a 'csc' matrix: save it with .tocsr()");
  EXPECT_EQ(error("dense"),
            "m.npz: has no array 'format', so it is not a sparse matrix: write it with "
            "scipy.sparse.save_npz");
  EXPECT_EQ(error("nan"), "m.npz: row 2, column 1 is not a finite number: mend or remove it");
  EXPECT_EQ(error("beyond"),
            "m.npz: row 0, column 7 is beyond the 5 columns of its shape: save it again");
  EXPECT_EQ(error("negative"),
            "m.npz/indices.npy: the index -1 is negative or too large: write the file with "
            "scipy.sparse.save_npz");
  EXPECT_EQ(
      error("offsets"),
      "m.npz: the matrix is not valid (indptr does not rise from 0 to the number of entries): "
      "save it again");
  EXPECT_EQ(error("big_endian"),
            "m.npz/data.npy: big-endian numbers are not supported: write the file with "
            "scipy.sparse.save_npz");
}

TEST(Npz, EveryTruncationIsRefused) {
  const std::string bytes = written(random_matrix(20, 9));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(error_of(bytes.substr(0, size)), "") << size;
  }
}

// A flipped bit is caught by a checksum or a check, or hits a byte that means nothing (a time
// stamp, padding), and then the matrix is the same. It never gives another matrix.
TEST(Npz, EveryFlippedBitIsRefusedOrHarmless) {
  const Csr matrix = random_matrix(20, 9);
  const std::string bytes = written(matrix);
  size_t refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      try {
        const Csr back = from_bytes(damaged);
        EXPECT_EQ(back.columns, matrix.columns) << i;
        EXPECT_EQ(back.values, matrix.values) << i;
        EXPECT_EQ(back.offsets, matrix.offsets) << i;
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, bytes.size() * 4);
}

}  // namespace
}  // namespace elias
