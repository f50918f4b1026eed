#include "python/native/python_text.h"

#include "base/errors.h"

namespace elias::python {

bool Utf8::read(PyObject* object) {
  if (!PyUnicode_Check(object)) return false;
  if (PyUnicode_IS_COMPACT_ASCII(object)) {
    view_ = {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(object)),
             static_cast<size_t>(PyUnicode_GET_LENGTH(object))};
    return true;
  }
  // Not PyUnicode_AsUTF8, which would keep the bytes with the str for as long as that lives.
  encoded_ = pybind11::reinterpret_steal<pybind11::object>(PyUnicode_AsUTF8String(object));
  if (!encoded_) {
    PyErr_Clear();
    return false;
  }
  view_ = {PyBytes_AS_STRING(encoded_.ptr()),
           static_cast<size_t>(PyBytes_GET_SIZE(encoded_.ptr()))};
  return true;
}

void Utf8::fail(PyObject* object, const std::string& where) {
  if (PyUnicode_Check(object)) {
    throw InputError("{}: holds half of a character (a lone surrogate): decode it anew", where);
  }
  throw InputError("{}: is of type {}, not a text: give a str", where, Py_TYPE(object)->tp_name);
}

}  // namespace elias::python
