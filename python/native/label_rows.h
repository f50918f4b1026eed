// Labels of points from Python: for each point a list of names or ids, or a dict of them with their
// relevances; or a matrix of scipy's, whose columns are labels.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "data/csr.h"
#include "data/label_space.h"
#include "python/native/csr_rows.h"

namespace elias::python {

/// Needs the GIL.
class LabelRows {
 public:
  /// `labels`: a list, or a matrix in the format CSR. `space` must outlive the object, and grows as
  /// rows are read; the first label that it sees decides between names and ids. Throws InputError
  /// if the matrix has not as many columns as the space has names.
  LabelRows(py::object labels, std::string name, LabelSpace& space);

  size_t rows() const;
  /// The labels of the points [begin, end). Throws InputError on what is no label.
  Csr slice(size_t begin, size_t end);

 private:
  void add_row(PyObject* labels, Csr& to);
  void add(PyObject* label, float relevance, Csr& to);
  uint32_t id_of(PyObject* label);
  uint32_t id_of_name(PyObject* name);
  uint32_t id_of_number(PyObject* number);
  float relevance_of(PyObject* value, PyObject* label) const;
  std::string at() const;

  py::object labels_;
  std::string name_;
  LabelSpace& space_;
  std::optional<CsrRows> matrix_;  // none: a list
  size_t row_ = 0;                 // that is being read
};

/// Gives an open `space` the names, in their order. Throws InputError if one stands there twice.
void add_names(const py::list& names, LabelSpace& space);

}  // namespace elias::python
