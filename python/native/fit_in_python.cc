#include "python/native/fit_in_python.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/errors.h"
#include "base/stopwatch.h"
#include "python/native/python_points.h"
#include "python/native/shared_pool.h"
#include "report/fit_report.h"
#include "train/encoder_start.h"
#include "train/fit_model.h"
#include "train/run_folder.h"
#include "train/training_points.h"

namespace elias::python {
namespace {

using nlohmann::ordered_json;

/// What the run asks and tells, brought to Python. The run calls it from the one thread that began
/// it, without the GIL.
class Listener {
 public:
  explicit Listener(const py::function& progress) : progress_(progress) {}

  FitHooks hooks() {
    return {.stop = [this] { return stop(); },
            .progress = [this](const TrainingProgress& at) { progress(at); },
            .log = [this](const std::string& event,
                          const ordered_json& fields) { log(event, fields); }};
  }

  /// Throws what was raised, if anything was.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  bool stop() {
    constexpr double kSeconds = 0.05;
    if (raised_ || since_asked_.seconds() < kSeconds) return raised_ != nullptr;
    since_asked_ = Stopwatch();
    in_python([] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    });
    return raised_ != nullptr;
  }

  void progress(const TrainingProgress& at) {
    constexpr double kSeconds = 0.1;
    const bool begins = at.stage != last_.stage;
    last_ = at;
    if (!begins && since_told_.seconds() < kSeconds) return;
    since_told_ = Stopwatch();
    tell(ordered_json::object());
  }

  /// The end of an epoch, with its figures.
  void log(const std::string& event, const ordered_json& fields) {
    if (event != "epoch") return;
    last_.stage = fields.value("stage", last_.stage);
    last_.epoch = fields.value("epoch", last_.epoch);
    last_.epochs = fields.value("epochs", last_.epochs);
    last_.point = last_.points;
    last_.loss = fields.value("loss", last_.loss);
    ordered_json figures = ordered_json::object();
    for (const auto& [name, value] : fields.items()) {
      const bool is_figure = value.is_number() && name.find('@') != std::string::npos;
      if (is_figure) figures[name] = value;
    }
    tell(figures);
  }

  void tell(const ordered_json& figures) {
    in_python([&] {
      py::dict named;
      for (const auto& [name, value] : figures.items()) named[name.c_str()] = value.get<double>();
      progress_(last_.stage, last_.epoch, last_.epochs, last_.point, last_.points, last_.loss,
                last_.share, named);
    });
  }

  /// What Python raises is kept until the run has saved a checkpoint and come to its end.
  template <typename Body>
  void in_python(const Body& body) {
    if (raised_) return;
    const py::gil_scoped_acquire gil;
    try {
      body();
    } catch (const py::error_already_set&) {
      raised_ = std::current_exception();
    }
  }

  const py::function& progress_;
  TrainingProgress last_;
  Stopwatch since_asked_, since_told_;
  std::exception_ptr raised_;
};

Settings settings_of(const std::string& text) {
  Settings settings;
  set_all(settings, ordered_json::parse(text), "settings");
  settings.encoder = encoder_name(settings.encoder);
  return settings;
}

LabelStorage storage_of(const std::string& store) {
  if (store == "float32") return LabelStorage::kFloat32;
  if (store == "bf16") return LabelStorage::kBFloat16;
  throw InputError("store {}: give 'float32', or 'bf16' for half of it", shown(store));
}

TrainingPoints points_to_learn_from(const FitPoints& given, Settings& settings, ThreadPool& pool) {
  const py::gil_scoped_acquire gil;  // the readers hold Python's objects until they are gone
  LabelSpace labels;
  if (!given.label_names.is_none()) add_names(given.label_names, labels);
  PythonPoints train(given.points, given.labels, labels);
  std::optional<PythonPoints> dev;
  if (!given.dev_points.is_none()) dev.emplace(given.dev_points, given.dev_labels, labels, "dev ");
  const py::gil_scoped_release released;
  Dataset train_data = read_all(train, labels);
  std::optional<Dataset> dev_data;
  if (dev) dev_data = read_all(*dev, labels);
  return make_training_points(std::move(train_data), std::move(dev_data), std::move(labels),
                              settings, pool);
}

}  // namespace

void fit(const FitPoints& given, const FitRequest& request, const py::function& progress) {
  const py::gil_scoped_release released;
  const FitOptions options{.storage = storage_of(request.store),
                           .checkpoint_minutes = request.checkpoint_minutes};
  Settings settings = settings_of(request.settings);
  RunFolder folder(request.out, request.overwrite);
  ThreadPool& pool = shared_pool(request.threads);
  const TrainingPoints points = points_to_learn_from(given, settings, pool);
  check_label_names(points.labels);
  memory_line(estimate_memory(settings, points.sizes, pool.threads()), settings, machine_memory());
  const auto state = folder.begin(run_identity(settings, points, options.storage));
  if (state == RunFolder::State::kFinished) return;
  Listener listener(progress);
  const Outcome outcome =
      fit_model(Context(pool), folder, settings, points, options, listener.hooks());
  if (outcome == Outcome::kFinished) folder.finish();
  listener.rethrow();
}

}  // namespace elias::python
