// --member of verbs that work on one member of an ensemble.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>

#include "model/model.h"

namespace elias::cli {

class MemberOption {
 public:
  void add_to(CLI::App& verb);

  /// Throws InputError if the model has fewer.
  const Member& of(const Model& model) const;

 private:
  int64_t number_ = 1;
};

}  // namespace elias::cli
