// elias._native: what the package `elias` is made of, as thin as can be. What users see, with its
// documentation, is in Python; here arguments are of one type each.
//
// Work goes on without the GIL. Exceptions of the engine become those of the package.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/errors.h"
#include "python/native/csr_rows.h"
#include "python/native/fit_in_python.h"
#include "python/native/loaded_model.h"
#include "python/native/python_points.h"
#include "report/model_points.h"

namespace elias::python {
namespace {

using nlohmann::ordered_json;

PyObject* input_error = nullptr;  // classes live as long as the process
PyObject* internal_error = nullptr;

py::object text_of(const std::string& bytes) {
  // A path in a message need not be UTF-8.
  return py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
      bytes.data(), static_cast<py::ssize_t>(bytes.size()), "backslashreplace"));
}

void add_errors(py::module_& module) {
  const auto add = [&](const char* name, const char* documentation, PyObject* base) {
    const std::string full = std::string("elias.") + name;
    PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), documentation, base, nullptr);
    if (made == nullptr) throw py::error_already_set();
    module.attr(name) = py::handle(made);
    return made;
  };
  input_error = add("InputError",
                    "An argument, a file or the machine is not as it must be: one sentence says "
                    "what, and what to do.",
                    PyExc_ValueError);
  internal_error = add("InternalError", "A bug in elias: please report it.", PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr raised) {
    try {
      std::rethrow_exception(std::move(raised));
    } catch (const InputError& error) {
      PyErr_SetObject(input_error, text_of(error.what()).ptr());
    } catch (const InternalError& error) {
      PyErr_SetObject(internal_error, text_of(error.what()).ptr());
    }
  });
}

std::string dumped(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// A name as str, or an id as int where the model has no names.
py::object label_object(const Model& model, uint32_t label) {
  if (model.has_names()) return py::str(model.label_name(label));
  return py::int_(label);
}

/// For each point a list of (label, score), best first; of equal scores the lower label. A label
/// is one object, however often it is predicted.
py::list scored_lists(const Model& model, const Csr& scores) {
  std::unordered_map<uint32_t, py::object> known;
  std::vector<ScoredLabel> order;
  py::list lists(scores.rows());
  for (size_t i = 0; i < scores.rows(); ++i) {
    const CsrRow row = scores.row(i);
    order.clear();
    for (size_t j = 0; j < row.size(); ++j) {
      order.push_back({row.values[j], static_cast<int32_t>(row.columns[j])});
    }
    std::sort(order.begin(), order.end(), is_better);
    py::list list(order.size());
    for (size_t j = 0; j < order.size(); ++j) {
      const auto label = static_cast<uint32_t>(order[j].label);
      py::object& name = known[label];
      if (!name) name = label_object(model, label);
      list[j] = py::make_tuple(name, order[j].score);
    }
    lists[i] = std::move(list);
  }
  return lists;
}

// --- what is asked of a model --------------------------------------------------------------------

using Candidates = std::optional<std::vector<std::string>>;
using Threshold = std::optional<std::variant<std::string, double>>;

std::optional<Thresholds> thresholds_of(const LoadedModel& model, const Threshold& given) {
  if (!given) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&*given)) {
    if (*text == "auto") return model.thresholds();
    throw InputError("threshold {}: is not a number: give a score, or 'auto'", shown(*text));
  }
  const double score = std::get<double>(*given);
  if (!(score >= 0 && score <= 1)) {
    throw InputError("threshold {}: scores are probabilities: give a number from 0 to 1", score);
  }
  Thresholds thresholds;
  thresholds.common = static_cast<float>(score);
  return thresholds;
}

Csr predict(const LoadedModel& model, const py::object& points, int64_t k,
            const Threshold& threshold, const Candidates& candidates) {
  LabelSpace none;
  PythonPoints reader(points, py::none(), none);
  const py::gil_scoped_release released;
  LoadedModel::Wanted wanted{.k = k, .thresholds = thresholds_of(model, threshold)};
  if (candidates) wanted.allowed = model.allowed(*candidates);
  return model.predict(reader, wanted);
}

py::list predict_lists(const LoadedModel& model, const py::object& points, int64_t k,
                       const Threshold& threshold, const Candidates& candidates) {
  return scored_lists(model.model(), predict(model, points, k, threshold, candidates));
}

py::tuple predict_arrays(const LoadedModel& model, const py::object& points, int64_t k,
                         const Threshold& threshold, const Candidates& candidates) {
  return arrays_of(predict(model, points, k, threshold, candidates));
}

py::array_t<float> embed(const LoadedModel& model, const py::object& points, int64_t member) {
  LabelSpace none;
  PythonPoints reader(points, py::none(), none);
  std::vector<float> vectors;
  {
    const py::gil_scoped_release released;
    vectors = model.embed(reader, member);
  }
  return array_of(std::move(vectors), reader.rows(),
                  static_cast<size_t>(model.model().first().weights.encoder.width()));
}

py::dict evaluate(const LoadedModel& model, const py::object& points, const py::object& labels,
                  const std::string& propensity, const Threshold& threshold) {
  LabelSpace space = model.model().label_space();
  PythonPoints reader(points, labels, space);
  Evaluation evaluation;
  {
    const py::gil_scoped_release released;
    evaluation = model.evaluate(reader, space, propensity, thresholds_of(model, threshold));
  }
  py::dict figures;
  for (const Metric& metric : evaluation.metrics) figures[metric.name.c_str()] = metric.value;
  return figures;
}

std::vector<std::string> explain(const LoadedModel& model, const py::object& points, int64_t k,
                                 const std::vector<std::string>& labels, size_t words) {
  LabelSpace none;
  PythonPoints reader(points, py::none(), none);
  const py::gil_scoped_release released;
  std::vector<std::string> lines;
  for (const auto& json : model.explain(reader, k, labels, words)) lines.push_back(dumped(json));
  return lines;
}

std::string inspect(const LoadedModel& model, const std::optional<std::string>& label) {
  const py::gil_scoped_release released;
  return dumped(model.inspect(label));
}

// --- the module ----------------------------------------------------------------------------------

void add_model(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<LoadedModel>(module, "Model")
      .def(py::init<std::string, int, bool>(), py::arg("folder"), py::arg("threads"),
           py::arg("exact"), Released())
      .def("predict_lists", &predict_lists)
      .def("predict_arrays", &predict_arrays)
      .def("embed", &embed)
      .def("evaluate", &evaluate)
      .def("explain", &explain)
      .def("inspect", &inspect)
      .def("label", [](const LoadedModel& self,
                       uint32_t label) { return label_object(self.model(), label); })
      .def("find_label", [](const LoadedModel& self,
                            const std::string& name) { return self.model().find_label(name); })
      .def_property_readonly("labels",
                             [](const LoadedModel& self) { return self.model().labels(); })
      .def_property_readonly("method",
                             [](const LoadedModel& self) { return self.model().method(); })
      .def_property_readonly("points",
                             [](const LoadedModel& self) { return self.model().points(); })
      .def_property_readonly("features",
                             [](const LoadedModel& self) { return self.model().features(); })
      .def_property_readonly(
          "takes_text", [](const LoadedModel& self) { return self.model().tfidf() != nullptr; })
      .def_property_readonly("most_found",
                             [](const LoadedModel& self) { return most_found(self.model()); })
      .def_property_readonly("files", [](const LoadedModel& self) {
        std::vector<std::string> names;
        for (const auto& [name, bytes] : self.model().files()) names.push_back(name);
        return names;
      });
}

void fit_points(const py::object& points, const py::object& labels, const py::object& dev_points,
                const py::object& dev_labels, const py::object& label_names,
                const std::string& settings, const std::string& out, bool overwrite,
                const std::string& store, double checkpoint_minutes, int threads,
                const py::function& progress) {
  fit({.points = points,
       .labels = labels,
       .dev_points = dev_points,
       .dev_labels = dev_labels,
       .label_names = label_names},
      {.out = out,
       .overwrite = overwrite,
       .settings = settings,
       .store = store,
       .checkpoint_minutes = checkpoint_minutes,
       .threads = threads},
      progress);
}

}  // namespace
}  // namespace elias::python

PYBIND11_MODULE(_native, module) {
  module.attr("version") = ELIAS_VERSION;
  elias::python::add_errors(module);
  elias::python::add_model(module);
  module.def("fit", &elias::python::fit_points);
}
