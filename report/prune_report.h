// What `elias prune` says: what was cut away, and what it cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "metrics/evaluate.h"
#include "model/model.h"

namespace elias {

struct PruneResult {
  struct Figures {
    Evaluation before, after;
  };

  const Model& before;
  const Model& after;
  int64_t restored = 0;  // labels that would have lost their last edge, and kept their best one
  std::optional<Figures> test{};
};

std::string prune_report(const PruneResult& result);

}  // namespace elias
