// What all routes share: the models, what is told of them, the limits and the counts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "serve/model_shelf.h"
#include "server/http_server.h"
#include "server/model_cards.h"
#include "server/options.h"
#include "server/router.h"

namespace elias::server {

/// A model as one request uses it: the same one to its end, whatever is loaded meanwhile.
struct ChosenModel {
  std::string name;
  std::shared_ptr<PredictionService> service;

  const Model& model() const { return service->served().model(); }
};

/// How the models are loaded and used.
struct ModelOptions {
  ServiceSettings service;
  IndexUse use = IndexUse::kOwn;
  std::map<std::string, std::string> test_files;  // by the names of models
};

class Api {
 public:
  Api(Limits limits, const ModelOptions& models);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  ModelShelf& shelf() { return shelf_; }
  const ModelShelf& shelf() const { return shelf_; }
  const Limits& limits() const { return limits_; }
  const std::shared_ptr<StatusCounts>& statuses() const { return statuses_; }

  /// The model of that name; without one, the only model. Throws ApiError, naming `field`.
  ChosenModel choose(const std::optional<std::string>& name, const std::string& field) const;
  std::shared_ptr<const ModelCard> card(const ChosenModel& chosen) const;

  /// Puts what is in the model's folder by now in its place. Throws InputError if that is refused:
  /// the model stays as it was.
  void reload(const std::string& name);
  /// How often that went well, and how often not.
  struct Reloads {
    uint64_t done = 0, refused = 0;
  };
  Reloads reloads() const { return {reloads_done_, reloads_refused_}; }

  /// When a request that comes now is overdue.
  Job::Clock::time_point deadline() const { return Job::Clock::now() + limits_.answer; }

  /// Every route of the server. They refer to this object.
  Router routes();

 private:
  const Limits limits_;
  ModelCards cards_;
  ModelShelf shelf_;
  std::shared_ptr<StatusCounts> statuses_ = std::make_shared<StatusCounts>();
  std::atomic<uint64_t> reloads_done_{0}, reloads_refused_{0};
};

}  // namespace elias::server
