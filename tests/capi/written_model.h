// A small random model on disk, of texts or of features, for callers of the C interface.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "tests/model/tiny_model.h"
#include "tests/temporary_folder.h"
#include "text/tfidf_fitter.h"

namespace elias {

class WrittenModel {
 public:
  enum class Kind { kTexts, kFeatures };

  explicit WrittenModel(Kind kind) {
    ThreadPool pool(1);
    TfidfFitter fitter(TfidfOptions{}, pool);
    fitter.add(texts());
    const Tfidf tfidf = fitter.finish();
    const TinyModel tiny({.V = static_cast<int64_t>(tfidf.features()), .L = kLabels});
    LabelSpace names;
    names.set_form(LabelForm::kNames);
    for (int64_t l = 0; l < kLabels; ++l) names.resolve_name(fmt::format("grün, {}", l), "here");
    const std::vector<uint64_t> counts(kLabels, 1);
    const std::vector<int32_t> stage1(kLabels, 0);
    const Thresholds thresholds{
        .goal = {.aim = ThresholdAim::kF1}, .common = kThreshold, .by_label = {}};
    write_model(path_,
                {.method = "elias",
                 .members = {{.weights = tiny.views(),
                              .search = {.alpha = 0.1F, .beam = 3, .shortlist = 17},
                              .stage1_clusters = stage1}},
                 .fusion = {},
                 .thresholds = &thresholds,
                 .tfidf = kind == Kind::kTexts ? &tfidf : nullptr,
                 .labels = &names,
                 .label_counts = counts,
                 .points = 3,
                 .training = {{"seed", 1}}},
                LabelStorage::kFloat32);
  }

  static constexpr int64_t kLabels = 40;
  static constexpr float kThreshold = 0.25F;

  /// Texts whose words the model knows.
  static TextRows texts() {
    TextRows texts;
    for (const char* text : {"a bird in the hand", "two birds in a bush", "öl ist teuer", ""}) {
      texts.add(text);
    }
    return texts;
  }

  const std::string& path() const { return path_; }

 private:
  TemporaryFolder temporary_;
  std::string path_ = temporary_ / "model";
};

}  // namespace elias
