#include "serve/served_model.h"

#include "base/errors.h"

namespace elias {

ServedModel::ServedModel(const std::string& folder, int threads, IndexUse use)
    : folder_(folder),
      pool_(threads),
      model_(Model::load(folder, Context(pool_), use)),
      loaded_at_(std::chrono::system_clock::now()) {
  if (model_.tfidf() == nullptr) {
    throw InputError(
        "{}: takes features, but a service is asked with texts: give a model that was "
        "trained on texts",
        folder);
  }
}

std::shared_ptr<const ServedModel> ServedModel::load(const std::string& folder, int threads,
                                                     IndexUse use) {
  return std::shared_ptr<const ServedModel>(new ServedModel(folder, threads, use));
}

}  // namespace elias
