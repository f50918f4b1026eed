// Points that Python holds, read as those of a file are: texts or a matrix, with labels or without.
//
// A batch is copied out of Python's objects at a time, under the GIL; what is done with it needs
// none. Between batches Ctrl-C is heard.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "data/label_space.h"
#include "data/point_reader.h"
#include "python/native/csr_rows.h"
#include "python/native/label_rows.h"

namespace elias::python {

class PythonPoints : public PointReader {
 public:
  /// `points`: a list of str, or a matrix in the format CSR. `labels`: None, or as LabelRows takes
  /// them, into `space`, which must outlive the object. `prefix` is put before "points" and
  /// "labels" in messages. Throws InputError if they are not of the same points. Needs the GIL.
  PythonPoints(py::object points, const py::object& labels, LabelSpace& space,
               const std::string& prefix = "");

  /// Takes the GIL. Throws what a signal's handler raised, too.
  bool next(PointBatch& batch) override;

  size_t rows() const;

 private:
  TextRows texts(size_t begin, size_t end) const;

  py::object points_;
  std::optional<CsrRows> matrix_;    // none: texts
  std::optional<LabelRows> labels_;  // none: points have none
  size_t row_ = 0;                   // of the next batch
};

/// All that is left of `points`, whose labels are of `space`. May be called without the GIL.
Dataset read_all(PointReader& points, const LabelSpace& space);

}  // namespace elias::python
