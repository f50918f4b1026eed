#include "data/csr.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace elias {

size_t Csr::finish_row(Repeats repeats) {
  const size_t begin = offsets.back(), end = columns.size();
  const auto first = columns.begin() + static_cast<ptrdiff_t>(begin);
  if (std::adjacent_find(first, columns.end(), std::greater_equal<>()) == columns.end()) {
    offsets.push_back(end);
    return 0;
  }
  std::vector<std::pair<uint32_t, float>> entries;
  entries.reserve(end - begin);
  for (size_t i = begin; i < end; ++i) entries.emplace_back(columns[i], values[i]);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t out = begin;
  for (const auto& [column, value] : entries) {
    if (out > begin && columns[out - 1] == column) {
      float& kept = values[out - 1];
      kept = repeats == Repeats::kSum ? kept + value : std::max(kept, value);
    } else {
      columns[out] = column;
      values[out++] = value;
    }
  }
  columns.resize(out);
  values.resize(out);
  offsets.push_back(out);
  return end - out;
}

void Csr::append(const Csr& other) {
  const uint64_t shift = offsets.back();
  for (size_t i = 1; i < other.offsets.size(); ++i) offsets.push_back(shift + other.offsets[i]);
  columns.insert(columns.end(), other.columns.begin(), other.columns.end());
  values.insert(values.end(), other.values.begin(), other.values.end());
  cols = std::max(cols, other.cols);
}

std::vector<uint64_t> column_counts(const Csr& matrix) {
  std::vector<uint64_t> counts(matrix.cols);
  for (size_t i = 0; i < matrix.nonzeros(); ++i) counts[matrix.columns[i]] += matrix.values[i] > 0;
  return counts;
}

Csr select_rows(const Csr& matrix, std::span<const size_t> rows) {
  Csr selected;
  selected.cols = matrix.cols;
  selected.offsets.reserve(rows.size() + 1);
  size_t nonzeros = 0;
  for (const size_t i : rows) selected.offsets.push_back(nonzeros += matrix.row(i).size());
  selected.columns.reserve(nonzeros);
  selected.values.reserve(nonzeros);
  for (const size_t i : rows) {
    const CsrRow row = matrix.row(i);
    selected.columns.insert(selected.columns.end(), row.columns.begin(), row.columns.end());
    selected.values.insert(selected.values.end(), row.values.begin(), row.values.end());
  }
  return selected;
}

std::vector<size_t> sampled_rows(size_t rows, size_t size) {
  const size_t every = std::max<size_t>(1, rows / size);
  std::vector<size_t> sampled;
  for (size_t i = 0; i < rows; i += every) sampled.push_back(i);
  return sampled;
}

Csr sample_rows(const Csr& matrix, size_t size) {
  return select_rows(matrix, sampled_rows(matrix.rows(), size));
}

Csr transposed(const Csr& matrix) {
  Csr turned;
  turned.cols = matrix.rows();
  turned.offsets.assign(matrix.cols + 1, 0);
  for (const uint32_t column : matrix.columns) ++turned.offsets[column + 1];
  std::partial_sum(turned.offsets.begin(), turned.offsets.end(), turned.offsets.begin());
  turned.columns.resize(matrix.nonzeros());
  turned.values.resize(matrix.nonzeros());
  std::vector<uint64_t> next(turned.offsets.begin(), turned.offsets.end() - 1);
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const CsrRow row = matrix.row(i);
    for (size_t j = 0; j < row.size(); ++j) {
      const uint64_t place = next[row.columns[j]]++;
      turned.columns[place] = static_cast<uint32_t>(i);
      turned.values[place] = row.values[j];
    }
  }
  return turned;
}

void scale_rows_to_unit_length(Csr& matrix) {
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const std::span row(matrix.values.data() + matrix.offsets[i], matrix.row(i).size());
    double square = 0;
    for (const float value : row) square += double{value} * value;
    if (square == 0) continue;
    const double scale = 1 / std::sqrt(square);
    for (float& value : row) value = static_cast<float>(scale * value);
  }
}

}  // namespace elias
