#include "serve/model_shelf.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace elias {

std::shared_ptr<PredictionService> ModelShelf::load(const Place& place) const {
  auto served = ServedModel::load(place.folder, settings_.replicas, use_);
  if (check_) check_(place.name, served);
  return std::make_shared<PredictionService>(std::move(served), settings_, place.statistics);
}

void ModelShelf::add(const std::string& name, const std::string& folder) {
  const std::lock_guard one_at_a_time(reloading_);
  if (find(name) != nullptr) {
    throw InputError("{}: two models have this name: give one of them another, as in OTHER={}",
                     shown(name), folder);
  }
  Place place{.name = name,
              .folder = folder,
              .statistics = std::make_shared<ServiceStatistics>(),
              .service = nullptr};
  place.service = load(place);
  const std::lock_guard lock(mutex_);
  places_.push_back(std::move(place));
}

ModelShelf::Place* ModelShelf::place_of(const std::string& name) {
  const auto place = std::ranges::find(places_, name, &Place::name);
  return place == places_.end() ? nullptr : &*place;
}

std::shared_ptr<PredictionService> ModelShelf::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto place = std::ranges::find(places_, name, &Place::name);
  return place == places_.end() ? nullptr : place->service;
}

std::vector<std::string> ModelShelf::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const Place& place : places_) names.push_back(place.name);
  return names;
}

void ModelShelf::reload(const std::string& name) {
  const std::lock_guard one_at_a_time(reloading_);
  Place* place = place_of(name);  // places move only in add()
  ELIAS_ASSERT(place != nullptr);
  auto service = load(*place);
  {
    const std::lock_guard lock(mutex_);
    std::swap(place->service, service);
  }
  // Here the old service goes, outside of the lock: requests go on meanwhile.
}

void ModelShelf::stop() {
  const std::lock_guard lock(mutex_);
  for (const Place& place : places_) place.service->stop();
}

}  // namespace elias
