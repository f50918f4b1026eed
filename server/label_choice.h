// Which labels of a text are answered: the k best, and of those the ones above a threshold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "metrics/thresholds.h"
#include "serve/replica.h"
#include "server/api.h"
#include "server/request_json.h"

namespace elias::server {

class LabelChoice {
 public:
  /// Throws ApiError if the model's own threshold is asked for, and it has none.
  LabelChoice(const AskedLabels& asked, const ChosenModel& chosen);

  /// How many labels to predict.
  int64_t k() const { return k_; }
  bool keeps(uint32_t label, float score) const;
  /// Leaves those of the labels, best first, that count.
  void cut(RankedRow& row) const;

 private:
  int64_t k_;
  std::optional<float> score_;              // the one threshold of all labels
  const Thresholds* thresholds_ = nullptr;  // or the model's
};

/// `k`, `threshold` and `model` of a query.
AskedLabels asked_by_query(const Call& call);

}  // namespace elias::server
