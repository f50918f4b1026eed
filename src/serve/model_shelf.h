// The models of a server by name, each with its service; a model can be replaced while it is used.
//
// Whoever took a service keeps it until the answer is there, so no request is lost by a reload; the
// old model goes when the last one has let go of it. A model that cannot be loaded changes nothing.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/prediction_service.h"

namespace elias {

class ModelShelf {
 public:
  /// Is called with every model before it takes its place; throws InputError to refuse it.
  using Check =
      std::function<void(const std::string& name, const std::shared_ptr<const ServedModel>&)>;

  ModelShelf(const ServiceSettings& settings, IndexUse use, Check check = {})
      : settings_(settings), use_(use), check_(std::move(check)) {}

  /// Loads the model. Throws InputError if it cannot be, or there is one of that name.
  void add(const std::string& name, const std::string& folder);

  /// Null if there is no such model.
  std::shared_ptr<PredictionService> find(const std::string& name) const;
  /// In the order in which they were added.
  std::vector<std::string> names() const;

  /// Loads the model's folder anew, and puts what is there in the place of what was. Throws
  /// InputError if that is refused: the old one stays. The name must be known.
  void reload(const std::string& name);

  /// From now on no service takes anything new; what waits is answered.
  void stop();

 private:
  struct Place {
    std::string name, folder;
    std::shared_ptr<ServiceStatistics> statistics;
    std::shared_ptr<PredictionService> service;
  };

  std::shared_ptr<PredictionService> load(const Place& place) const;
  Place* place_of(const std::string& name);

  const ServiceSettings settings_;
  const IndexUse use_;
  const Check check_;
  std::mutex reloading_;      // one model is loaded at a time
  mutable std::mutex mutex_;  // of places_
  std::vector<Place> places_;
};

}  // namespace elias
