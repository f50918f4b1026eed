// A sparse matrix by rows (compressed sparse rows): labels of points, features of points, scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elias {

/// One row: column ids ascending, without repeats, and the value of each.
struct CsrRow {
  std::span<const uint32_t> columns;
  std::span<const float> values;
  size_t size() const { return columns.size(); }
};

struct Csr {
  uint64_t cols = 0;                 // columns; every id is below it
  std::vector<uint64_t> offsets{0};  // row i is [offsets[i], offsets[i + 1])
  std::vector<uint32_t> columns;
  std::vector<float> values;

  size_t rows() const { return offsets.size() - 1; }
  size_t nonzeros() const { return columns.size(); }
  CsrRow row(size_t i) const {
    const size_t begin = offsets[i], size = offsets[i + 1] - begin;
    return {{columns.data() + begin, size}, {values.data() + begin, size}};
  }

  /// What to do with a column that stands twice in a row.
  enum class Repeats { kSum, kMaximum };

  /// Ends the row whose entries were pushed onto `columns` and `values` since the last call: sorts
  /// it by column and merges repeats. Returns how many entries were merged away.
  size_t finish_row(Repeats repeats);

  /// Appends all rows of `other`.
  void append(const Csr& other);
};

/// How many rows hold each of the `cols` columns with a value above zero.
std::vector<uint64_t> column_counts(const Csr& matrix);

/// The given rows, in the given order.
Csr select_rows(const Csr& matrix, std::span<const size_t> rows);

/// All of [0, rows) or, of more than `size`, at least so many and less than twice, evenly spread: a
/// file may be sorted.
std::vector<size_t> sampled_rows(size_t rows, size_t size);
Csr sample_rows(const Csr& matrix, size_t size);

/// Rows for columns; the entries of a row rise.
Csr transposed(const Csr& matrix);

/// Divides every row by its Euclidean length, but for rows of zeros.
void scale_rows_to_unit_length(Csr& matrix);

}  // namespace elias
