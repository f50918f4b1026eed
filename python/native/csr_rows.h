// Sparse matrices from scipy and to it.
//
// In: rows are copied out of numpy's buffers a batch at a time, whatever the types of indices and
// values, and brought into the order that the engine's matrices have. Out: nothing is copied; the
// arrays own what the engine computed.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

#include "data/csr.h"

namespace elias::python {

namespace py = pybind11;

/// A matrix of scipy's in the format CSR, with values of float32 or float64. Needs the GIL.
class CsrRows {
 public:
  /// `name` starts error messages. Throws InputError if the arrays do not fit together.
  CsrRows(const py::object& matrix, std::string name);

  size_t rows() const { return static_cast<size_t>(offsets_.size()) - 1; }
  uint64_t cols() const { return cols_; }

  /// The rows [begin, end), columns rising, repeated ones summed up. Throws InputError on a column
  /// that there is not, or a value that is not finite.
  Csr slice(size_t begin, size_t end) const;

 private:
  template <typename Index, typename Value>
  Csr slice_of(size_t begin, size_t end) const;

  std::string name_;
  uint64_t cols_ = 0;
  py::array_t<int64_t, py::array::c_style | py::array::forcecast> offsets_;
  py::array columns_, values_;
};

/// The arrays (data, indices, indptr), which own the matrix's memory.
py::tuple arrays_of(Csr matrix);

/// `values` as an array [rows, cols] that owns them.
py::array_t<float> array_of(std::vector<float> values, size_t rows, size_t cols);

}  // namespace elias::python
