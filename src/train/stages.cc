#include "train/stages.h"

#include <numeric>
#include <utility>

#include "base/errors.h"
#include "base/random.h"

namespace elias {

std::string Stage::name() const {
  switch (kind) {
    case StageKind::kWarm:
      return "short stage 1";
    case StageKind::kStage1:
      return "stage 1";
    case StageKind::kStage2:
      return "stage 2";
    case StageKind::kOva:
      return "one-vs-all";
    case StageKind::kGlas:
      return "glas";
  }
  return {};
}

std::vector<Stage> stages_of(const Settings& settings) {
  std::vector<Stage> all;
  if (settings.method != Method::kElias) {
    const bool glas = settings.method == Method::kGlas;
    all = {
        {glas ? StageKind::kGlas : StageKind::kOva, settings.stage1_epochs, settings.stage1_rates}};
  } else {
    // Where all labels are rejected none need be found: the index can wait for a trained encoder.
    const StageKind before =
        settings.logit_loss == LogitLoss::kAll ? StageKind::kOva : StageKind::kWarm;
    all = {{before, settings.warm_epochs, settings.stage1_rates},
           {StageKind::kStage1, settings.stage1_epochs, settings.stage1_rates},
           {StageKind::kStage2, settings.stage2_epochs, settings.stage2_rates}};
  }
  std::erase_if(all, [](const Stage& stage) { return stage.epochs == 0; });
  return all;
}

std::vector<uint32_t> epoch_order(int64_t N, uint64_t seed, int64_t stage, int64_t epoch) {
  constexpr uint64_t kOrder = 0x6f72646572;  // apart from the streams of other uses
  std::vector<uint32_t> order(static_cast<size_t>(N));
  std::iota(order.begin(), order.end(), 0U);
  const Random random(seed ^ kOrder,
                      static_cast<uint64_t>(stage) << 32 | static_cast<uint64_t>(epoch));
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i, i)]);
  return order;
}

}  // namespace elias
