// A training run on points that Python holds: what `elias fit` does, without its words.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace elias::python {

namespace py = pybind11;

struct FitRequest {
  std::string out;  // the folder of the run, and of the model in the end
  bool overwrite = false;
  std::string settings;  // a JSON object
  std::string store;     // "float32" or "bf16"
  double checkpoint_minutes = 0;
  int threads = 0;
};

struct FitPoints {
  py::object points, labels;          // as PythonPoints takes them
  py::object dev_points, dev_labels;  // None: some of the points are held out
  py::object label_names;             // of a matrix of labels; None: its columns are ids
};

/// Trains, or goes on, or finds that all is done. `progress` is called with the values of
/// elias.Progress, in their order. What it raises, or Ctrl-C does, ends the run after a checkpoint,
/// and is thrown then.
void fit(const FitPoints& given, const FitRequest& request, const py::function& progress);

}  // namespace elias::python
