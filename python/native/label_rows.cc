#include "python/native/label_rows.h"

#include <cmath>
#include <utility>

#include "base/errors.h"
#include "python/native/python_text.h"

namespace elias::python {
namespace {

// As of ids in files: tables of that size would be made for what is most likely no id.
constexpr int64_t kIdLimit = 10'000'000;

py::object stolen(PyObject* made) {
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

bool is_iterable(PyObject* object) {
  const auto iterator = py::reinterpret_steal<py::object>(PyObject_GetIter(object));
  PyErr_Clear();
  return static_cast<bool>(iterator);
}

/// Sets have no order that is the same in every process, and the ids of names follow the order.
py::object in_order(PyObject* labels) {
  if (!PyAnySet_Check(labels)) return stolen(PySequence_Fast(labels, ""));
  py::object sorted = stolen(PySequence_List(labels));
  if (PyList_Sort(sorted.ptr()) != 0) PyErr_Clear();  // these are not all names
  return sorted;
}

}  // namespace

LabelRows::LabelRows(py::object labels, std::string name, LabelSpace& space)
    : labels_(std::move(labels)), name_(std::move(name)), space_(space) {
  if (PyList_Check(labels_.ptr())) return;
  matrix_.emplace(labels_, name_);
  if (space_.has_names()) {
    if (matrix_->cols() == space_.size()) return;
    throw InputError("{}: the matrix has {} columns, but there are {} labels: give one for each",
                     name_, matrix_->cols(), space_.size());
  }
  space_.require_ids(name_);
  space_.require_size(matrix_->cols(), name_);
}

size_t LabelRows::rows() const {
  return matrix_ ? matrix_->rows() : static_cast<size_t>(PyList_GET_SIZE(labels_.ptr()));
}

std::string LabelRows::at() const { return fmt::format("{}[{}]", name_, row_); }

Csr LabelRows::slice(size_t begin, size_t end) {
  Csr rows;
  if (!matrix_) {
    for (row_ = begin; row_ < end; ++row_) {
      add_row(PyList_GET_ITEM(labels_.ptr(), static_cast<py::ssize_t>(row_)), rows);
      rows.finish_row(Csr::Repeats::kMaximum);
    }
  } else {
    const Csr all = matrix_->slice(begin, end);
    for (size_t i = 0; i < all.rows(); ++i) {
      const CsrRow row = all.row(i);
      for (size_t j = 0; j < row.size(); ++j) {
        if (row.values[j] < 0) {
          throw InputError("{}: holds the relevance {}: give numbers above 0", name_,
                           row.values[j]);
        }
        if (row.values[j] == 0) continue;  // says that the label does not apply
        rows.columns.push_back(row.columns[j]);
        rows.values.push_back(row.values[j]);
      }
      rows.finish_row(Csr::Repeats::kMaximum);
    }
  }
  rows.cols = space_.size();
  return rows;
}

void LabelRows::add_row(PyObject* labels, Csr& to) {
  if (PyDict_Check(labels)) {
    PyObject *key = nullptr, *value = nullptr;
    for (py::ssize_t place = 0; PyDict_Next(labels, &place, &key, &value) != 0;) {
      // Held, as a number of another type is asked for its value, and may change the dict.
      const auto label = py::reinterpret_borrow<py::object>(key);
      const auto relevance = py::reinterpret_borrow<py::object>(value);
      add(label.ptr(), relevance_of(relevance.ptr(), label.ptr()), to);
    }
    return;
  }
  if (PyUnicode_Check(labels) || PyBytes_Check(labels) || !is_iterable(labels)) {
    throw InputError("{}: is of type {}, not a list of labels: give a list for each point", at(),
                     Py_TYPE(labels)->tp_name);
  }
  const py::object list = in_order(labels);
  for (py::ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.ptr()); ++i) {
    add(PySequence_Fast_GET_ITEM(list.ptr(), i), 1.0F, to);
  }
}

void LabelRows::add(PyObject* label, float relevance, Csr& to) {
  if (relevance == 0) return;  // says that the label does not apply
  to.columns.push_back(id_of(label));
  to.values.push_back(relevance);
}

uint32_t LabelRows::id_of(PyObject* label) {
  const bool is_name = PyUnicode_Check(label);
  if (!is_name && PyIndex_Check(label) == 0) {
    throw InputError("{}: a label is of type {}: give names (str) or ids (int)", at(),
                     Py_TYPE(label)->tp_name);
  }
  if (space_.form() == LabelForm::kUnknown) {
    space_.set_form(is_name ? LabelForm::kNames : LabelForm::kIds);
  }
  return is_name ? id_of_name(label) : id_of_number(label);
}

uint32_t LabelRows::id_of_name(PyObject* label) {
  const Utf8 name(label, [this] { return at(); });
  if (space_.form() == LabelForm::kIds) {
    throw InputError("{}: label {} is a name, but the labels {} are ids (0, 1, 2, ...): give ids",
                     at(), shown(name.view()),
                     space_.form_owner().empty() ? "before it" : "of " + space_.form_owner());
  }
  if (name.view().empty()) throw InputError("{}: a label is empty: remove it", at());
  return space_.resolve_name(name.view(), at()).value();
}

uint32_t LabelRows::id_of_number(PyObject* label) {
  const py::ssize_t id = PyNumber_AsSsize_t(label, nullptr);  // what is too large is cut
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (space_.form() == LabelForm::kNames && !space_.closed()) {
    throw InputError("{}: label {} is an id, but the labels {} are names: give names", at(), id,
                     space_.form_owner().empty() ? "before it" : "of " + space_.form_owner());
  }
  const auto limit = space_.closed() ? static_cast<int64_t>(space_.size()) : kIdLimit;
  if (id < 0 || id >= limit) {
    throw InputError("{}: label id {} is not one of the ids from 0 to {}: mend it", at(), id,
                     limit - 1);
  }
  space_.cover_ids(static_cast<uint64_t>(id) + 1);
  return static_cast<uint32_t>(id);
}

float LabelRows::relevance_of(PyObject* value, PyObject* label) const {
  const double number = PyFloat_AsDouble(value);
  const bool is_number = PyErr_Occurred() == nullptr;
  PyErr_Clear();
  if (is_number && std::isfinite(static_cast<float>(number)) && number >= 0) {
    return static_cast<float>(number);
  }
  throw InputError("{}: the relevance of label {} is {}: give a number of 0 or above", at(),
                   std::string(py::repr(label)), std::string(py::repr(value)));
}

void add_names(const py::list& names, LabelSpace& space) {
  space.set_form(LabelForm::kNames);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto at = [i] { return fmt::format("label_names[{}]", i); };
    const Utf8 name(PyList_GET_ITEM(names.ptr(), static_cast<py::ssize_t>(i)), at);
    if (space.resolve_name(name.view(), at()).value() == i) continue;
    throw InputError("{}: the name {} stands there twice: rename one of the labels", at(),
                     shown(name.view()));
  }
}

}  // namespace elias::python
