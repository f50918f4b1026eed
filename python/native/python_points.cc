#include "python/native/python_points.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "python/native/python_text.h"

namespace elias::python {

PythonPoints::PythonPoints(py::object points, const py::object& labels, LabelSpace& space,
                           const std::string& prefix)
    : points_(std::move(points)) {
  info_.name = prefix + "points";
  info_.has_text = PyList_Check(points_.ptr());
  info_.has_features = !info_.has_text;
  if (info_.has_features) {
    matrix_.emplace(points_, info_.name);
    info_.format = Format::kNpz;
    info_.promised_features = matrix_->cols();
  } else {
    info_.format = Format::kLines;
  }
  info_.promised_rows = rows();
  if (labels.is_none()) return;
  const std::string name = prefix + "labels";
  labels_.emplace(labels, name, space);
  if (labels_->rows() != rows()) {
    throw InputError("{}: has {} rows, but {} has {}: give the labels of each point", name,
                     labels_->rows(), info_.name, rows());
  }
}

size_t PythonPoints::rows() const {
  return matrix_ ? matrix_->rows() : static_cast<size_t>(PyList_GET_SIZE(points_.ptr()));
}

bool PythonPoints::next(PointBatch& batch) {
  constexpr size_t kBatch = 16'384;
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  const size_t begin = row_, end = std::min(rows(), row_ + kBatch);
  row_ = end;
  batch = {};
  if (matrix_) {
    batch.features = matrix_->slice(begin, end);
  } else {
    batch.texts = texts(begin, end);
  }
  if (labels_) {
    batch.labels = labels_->slice(begin, end);
  } else {
    batch.labels.offsets.assign(end - begin + 1, 0);
  }
  return end > begin;
}

TextRows PythonPoints::texts(size_t begin, size_t end) const {
  TextRows texts;
  texts.offsets.reserve(end - begin + 1);
  for (size_t i = begin; i < end; ++i) {
    const auto at = [&] { return fmt::format("{}[{}]", info_.name, i); };
    texts.add(Utf8(PyList_GET_ITEM(points_.ptr(), static_cast<py::ssize_t>(i)), at).view());
  }
  return texts;
}

Dataset read_all(PointReader& points, const LabelSpace& space) {
  Dataset data;
  data.info = points.info();
  for (PointBatch batch; points.next(batch);) {
    data.texts.append(batch.texts);
    data.features.append(batch.features);
    data.labels.append(batch.labels);
  }
  data.labels.cols = space.size();
  return data;
}

}  // namespace elias::python
