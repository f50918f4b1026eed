// Settings of the papers: their choices where ours differ, and those of their data sets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/errors.h"
#include "train/settings.h"

namespace elias {
namespace {

constexpr int64_t kAllWords = 1000000000;

/// A row of ELIAS, table 4. What all rows share is in set_shared. The table has the epochs of all
/// stages in one number; the authors' runs took 5 of them before clustering again and 15 for
/// stage 1.
struct Preset {
  const char* name;
  int64_t clusters;
  float alpha;
  int64_t epochs;
  float rate;  // LR_W, of stage 1
  int64_t batch;
  int64_t max_length;      // of a transformer, as
  float transformer_rate;  // LR_phi
};

constexpr Preset kPresets[] = {
    {"lf-amazontitles-131k", 2048, 10, 60, 0.02F, 512, 32, 1e-4F},
    {"amazon-670k", 8192, 10, 60, 0.01F, 256, 128, 1e-4F},
    {"wikipedia-500k", 8192, 10, 45, 0.005F, 256, 128, 5e-5F},
    {"amazon-3m", 32768, 20, 45, 0.002F, 64, 128, 2e-5F},
};

constexpr int64_t kWarmEpochs = 5;
constexpr int64_t kStage1Epochs = 15;

/// The base setting of GLaS, of its table 1 and section 4. Its rates are not known.
constexpr const char* kGlasBase = "amazoncat-13k";

void set_glas_base(Settings& settings) {
  settings.method = Method::kGlas;
  if (!has_transformer(settings)) {
    settings.width = 1024;
    settings.word_dropout = 0.2F;
  }
  settings.loss = EmbeddingLoss::kMargin;
  settings.mined = 0;
  settings.regulariser = Regulariser::kGlas;
  settings.regulariser_weight = 10;
  settings.regularised = RegularisedLabels::kDrawn;
  settings.batch = 4096;
  settings.stage1_epochs = 10;
  settings.evaluate_every = 1;
  settings.patience = 1;
}

/// What the authors' runs share on all data sets (ELIAS, sections 4 and C, and their code).
void set_shared(Settings& settings) {
  settings.beam = 20;
  settings.shortlist = 2000;
  settings.edges = 1000;
  settings.beta = 150;
  settings.lambda = 0.05F;
  settings.weight_decay = 0.01F;
  settings.accumulation = 10;
  settings.schedule = Schedule::kStages;
}

/// In stage 2 labels and edges share a rate: that of stage 1, or 0.005 where it was higher.
void set_stage2_rates(Settings& settings) {
  const float stage1 = settings.stage1_rates.labels;
  const float rate = stage1 > 0 ? std::min(stage1, 0.005F) : 0.005F;
  settings.stage2_rates.labels = settings.stage2_rates.edges = rate;
}

}  // namespace

void set_as_published(Settings& settings) {
  set_shared(settings);
  set_stage2_rates(settings);
  settings.opening = 0;
  settings.labels_per_cluster = 100;
  settings.logit_loss = LogitLoss::kNone;
  settings.gamma = 1;
  settings.informed_edges = false;
  settings.keep_classifiers = false;
  settings.keep_warm_classifiers = false;
  settings.label_start = LabelStart::kPublished;
  settings.kept_clusters = 0;
  settings.ranker = RankerChoice::kBoth;
  settings.ranker_words = kAllWords;
  settings.ranker_positive_weight = 1;
  settings.ranker_least_weight = 0.1F;
  settings.ranker_dropped = 0;
  settings.mix = MixKind::kTree;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  names.emplace_back(kGlasBase);
  return names;
}

void set_preset(Settings& settings, const std::string& name) {
  if (name == kGlasBase) return set_glas_base(settings);
  const auto* preset = std::find_if(std::begin(kPresets), std::end(kPresets),
                                    [&](const Preset& one) { return one.name == name; });
  if (preset == std::end(kPresets)) {
    throw InputError("--preset {}: there is none of that name: give one of {}, or leave it out",
                     shown(name), fmt::join(preset_names(), ", "));
  }
  set_shared(settings);
  if (has_transformer(settings)) {
    settings.max_length = preset->max_length;
    settings.stage1_rates.encoder = preset->transformer_rate;
  }
  settings.clusters = preset->clusters;
  settings.alpha = preset->alpha;
  settings.batch = preset->batch;
  settings.warm_epochs = kWarmEpochs;
  settings.stage1_epochs = kStage1Epochs;
  settings.stage2_epochs = preset->epochs - kWarmEpochs - kStage1Epochs;
  settings.stage1_rates.clusters = settings.stage1_rates.labels = preset->rate;
  set_stage2_rates(settings);
}

}  // namespace elias
