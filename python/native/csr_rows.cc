#include "python/native/csr_rows.h"

#include <cmath>
#include <memory>
#include <utility>

#include "base/errors.h"

namespace elias::python {
namespace {

/// The values where they are, as an array that frees them. `To` has the bits of `From`.
template <typename To, typename From>
py::array_t<To> owning_array(std::vector<From> values, std::vector<py::ssize_t> shape) {
  static_assert(sizeof(To) == sizeof(From));
  auto kept = std::make_unique<std::vector<From>>(std::move(values));
  const auto* data = reinterpret_cast<const To*>(kept->data());
  const py::capsule owner(kept.get(),
                          [](void* vector) { delete static_cast<std::vector<From>*>(vector); });
  kept.release();  // NOLINT(bugprone-unused-return-value): the capsule has it
  return py::array_t<To>(std::move(shape), data, owner);
}

template <typename To, typename From>
py::array_t<To> owning_array(std::vector<From> values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return owning_array<To>(std::move(values), {size});
}

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw InputError("{}: the matrix is not valid ({}): build it again", name, what);
}

}  // namespace

CsrRows::CsrRows(const py::object& matrix, std::string name)
    : name_(std::move(name)),
      cols_(matrix.attr("shape").cast<std::pair<uint64_t, uint64_t>>().second),
      offsets_(matrix.attr("indptr")),
      columns_(matrix.attr("indices")),
      values_(matrix.attr("data")) {
  if (cols_ > UINT32_MAX) fail(name_, "too many columns");
  if (offsets_.size() == 0) fail(name_, "indptr is empty");
  if (columns_.size() < values_.size()) fail(name_, "indices and data differ in size");
}

Csr CsrRows::slice(size_t begin, size_t end) const {
  const bool wide = columns_.dtype().itemsize() == sizeof(int64_t);
  const bool exact = values_.dtype().itemsize() == sizeof(double);
  if (wide)
    return exact ? slice_of<int64_t, double>(begin, end) : slice_of<int64_t, float>(begin, end);
  return exact ? slice_of<int32_t, double>(begin, end) : slice_of<int32_t, float>(begin, end);
}

template <typename Index, typename Value>
Csr CsrRows::slice_of(size_t begin, size_t end) const {
  const py::array_t<Index, py::array::c_style> columns(columns_);
  const py::array_t<Value, py::array::c_style> values(values_);
  Csr rows;
  rows.cols = cols_;
  rows.offsets.reserve(end - begin + 1);
  const int64_t* const offsets = offsets_.data();
  const auto size = [&](size_t first, size_t last) {
    if (offsets[first] < 0 || offsets[last] < offsets[first] || offsets[last] > values.size()) {
      fail(name_, "indptr does not rise from 0 to the number of entries");
    }
    return static_cast<size_t>(offsets[last] - offsets[first]);
  };
  rows.columns.reserve(size(begin, end));
  rows.values.reserve(size(begin, end));
  for (size_t row = begin; row < end; ++row) {
    size(row, row + 1);
    for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      const Index column = columns.data()[i];
      if (column < 0 || static_cast<uint64_t>(column) >= cols_) {
        throw InputError(
            "{}: row {}, column {} is beyond the {} columns of its shape: build it again", name_,
            row, column, cols_);
      }
      rows.columns.push_back(static_cast<uint32_t>(column));
      rows.values.push_back(static_cast<float>(values.data()[i]));
    }
    rows.finish_row(Csr::Repeats::kSum);
    const CsrRow finished = rows.row(row - begin);
    for (size_t i = 0; i < finished.size(); ++i) {
      if (std::isfinite(finished.values[i])) continue;
      throw InputError("{}: row {}, column {} is not a finite number: mend or remove it", name_,
                       row, finished.columns[i]);
    }
  }
  return rows;
}

py::tuple arrays_of(Csr matrix) {
  return py::make_tuple(owning_array<float>(std::move(matrix.values)),
                        owning_array<int32_t>(std::move(matrix.columns)),
                        owning_array<int64_t>(std::move(matrix.offsets)));
}

py::array_t<float> array_of(std::vector<float> values, size_t rows, size_t cols) {
  return owning_array<float>(std::move(values),
                             {static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(cols)});
}

}  // namespace elias::python
