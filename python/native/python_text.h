// Text from Python: UTF-8, read where it lies if it is ASCII.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

namespace elias::python {

/// The UTF-8 of a str, as long as the object lives. Needs the GIL.
class Utf8 {
 public:
  /// Throws InputError if `object` is no str, "points[3]: is a float, not a text", or holds half of
  /// a character (a lone surrogate). `where()` starts the message.
  template <typename Where>
  Utf8(PyObject* object, const Where& where) {
    if (!read(object)) fail(object, where());
  }

  std::string_view view() const { return view_; }

 private:
  bool read(PyObject* object);
  [[noreturn]] static void fail(PyObject* object, const std::string& where);

  pybind11::object encoded_;
  std::string_view view_;
};

}  // namespace elias::python
