#include "server/label_choice.h"

#include "base/errors.h"
#include "server/api_error.h"

namespace elias::server {
namespace {

constexpr int64_t kDefaultLabels = 5;

}  // namespace

LabelChoice::LabelChoice(const AskedLabels& asked, const ChosenModel& chosen)
    : k_(asked.k.value_or(asked.threshold ? Thresholds::kDepth : kDefaultLabels)) {
  if (!asked.threshold) return;
  if (!asked.threshold->automatic) {
    score_ = asked.threshold->score;
    return;
  }
  thresholds_ = chosen.model().thresholds();
  if (thresholds_ == nullptr) {
    throw ApiError(400, "threshold",
                   "the model {} has no thresholds of its own: give a number, or have 'elias "
                   "threshold' choose them and load the model again",
                   shown(chosen.name));
  }
}

bool LabelChoice::keeps(uint32_t label, float score) const {
  if (thresholds_ != nullptr) return score >= thresholds_->of(label);
  return !score_ || score >= *score_;
}

void LabelChoice::cut(RankedRow& row) const {
  std::erase_if(row, [&](const ScoredLabel& scored) {
    return !keeps(static_cast<uint32_t>(scored.label), scored.score);
  });
}

AskedLabels asked_by_query(const Call& call) {
  AskedLabels asked{.model = call.query("model"), .k = {}, .threshold = {}};
  if (const auto k = call.query("k")) asked.k = read_whole("k", *k, 1, kMostLabels);
  if (const auto threshold = call.query("threshold")) {
    asked.threshold = read_threshold(*threshold);
  }
  return asked;
}

}  // namespace elias::server
