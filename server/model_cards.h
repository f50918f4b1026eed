// What the server tells of each model beside its predictions: its index, and its labels by name.
//
// A card belongs to one loading of a model. What it says is worked out when it is first asked for,
// but for the figures on test points: these could fail, and a model whose card fails is not served.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "metrics/evaluate.h"
#include "serve/model_shelf.h"
#include "server/label_search.h"

namespace elias::server {

class ModelCard {
 public:
  /// `test_file`: points with their true labels; empty: none. Throws InputError if they do not fit.
  ModelCard(const ServedModel& served, std::string test_file);

  /// What GET /v1/models/{model}/index answers, but for the model's name.
  const nlohmann::ordered_json& index(const Model& model) const;
  const LabelSearch& labels(const Model& model) const;

 private:
  std::string test_file_;
  std::optional<Evaluation> test_;
  mutable std::once_flag index_made_, labels_made_;
  mutable nlohmann::ordered_json index_;
  mutable std::optional<LabelSearch> labels_;
};

class ModelCards {
 public:
  /// Test files by the names of models.
  explicit ModelCards(std::map<std::string, std::string> test_files)
      : test_files_(std::move(test_files)) {}

  /// To be called with every model before it is served. Throws InputError.
  void add(const std::string& name, const std::shared_ptr<const ServedModel>& served);
  /// Of a model that was added, and is still there.
  std::shared_ptr<const ModelCard> of(const ServedModel& served) const;

 private:
  struct Entry {
    std::weak_ptr<const ServedModel> served;
    std::shared_ptr<const ModelCard> card;
  };

  const std::map<std::string, std::string> test_files_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace elias::server
