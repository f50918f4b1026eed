// A model as a service holds it: loaded once, shared by all replicas and requests, gone when the
// last of them has let go.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/thread_pool.h"
#include "model/model.h"
#include "ops/context.h"

namespace elias {

class ServedModel {
 public:
  /// Throws InputError if the folder holds no model of texts, or a damaged one.
  static std::shared_ptr<const ServedModel> load(const std::string& folder, int threads,
                                                 IndexUse use = IndexUse::kOwn);

  const std::string& folder() const { return folder_; }
  const Model& model() const { return model_; }
  std::chrono::system_clock::time_point loaded_at() const { return loaded_at_; }

 private:
  ServedModel(const std::string& folder, int threads, IndexUse use);

  std::string folder_;
  ThreadPool pool_;  // of loading; predictions have one thread each
  Model model_;
  std::chrono::system_clock::time_point loaded_at_;
};

}  // namespace elias
