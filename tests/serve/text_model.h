// Small random models of texts, written to disk for what serves them.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "tests/model/tiny_model.h"
#include "text/tfidf_fitter.h"

namespace elias {

struct TextModel {
  uint64_t seed = 1;      // models of different seeds give different scores
  bool threshold = true;  // one of 0.25 for all labels
  std::string method = "elias";
};

/// The names of its labels; the first ones are odd on purpose.
inline std::vector<std::string> text_model_labels() {
  std::vector<std::string> names{"tea",           "Green Tea",     "teapot",
                                 "grün, \"süß\"", "<img onerror>", "a/b"};
  while (names.size() < 40) names.push_back("label " + std::to_string(names.size()));
  return names;
}

/// Texts whose words the models know, and one without any.
inline TextRows known_texts() {
  TextRows texts;
  for (const char* text : {"a bird in the hand", "two birds in a bush", "öl ist teuer", "",
                           "the early bird", "birds of a feather", "hand in hand", "bush fire"}) {
    texts.add(text);
  }
  return texts;
}

inline void write_text_model(const std::string& folder, const TextModel& options = {}) {
  ThreadPool pool(1);
  TfidfFitter fitter(TfidfOptions{}, pool);
  fitter.add(known_texts());
  const Tfidf tfidf = fitter.finish();
  const auto labels = text_model_labels();
  const bool index = options.method == "elias";
  const TinyModel tiny({.V = static_cast<int64_t>(tfidf.features()),
                        .C = index ? 6 : 0,
                        .L = static_cast<int64_t>(labels.size()),
                        .seed = options.seed});
  LabelSpace names;
  names.set_form(LabelForm::kNames);
  for (const std::string& name : labels) names.resolve_name(name, "here");
  std::vector<uint64_t> counts(labels.size());
  for (size_t l = 0; l < counts.size(); ++l) counts[l] = 100 - l;
  const std::vector<int32_t> stage1(labels.size(), 0);
  const Thresholds thresholds{.goal = {.aim = ThresholdAim::kF1}, .common = 0.25F, .by_label = {}};
  write_model(folder,
              {.method = options.method,
               .members = {{.weights = tiny.views(),
                            .search = {.alpha = 0.1F, .beam = 3, .shortlist = 17},
                            .stage1_clusters = index ? std::span<const int32_t>(stage1)
                                                     : std::span<const int32_t>()}},
               .fusion = {},
               .thresholds = options.threshold ? &thresholds : nullptr,
               .tfidf = &tfidf,
               .labels = &names,
               .label_counts = counts,
               .points = 3,
               .training = {{"seed", options.seed}}},
              LabelStorage::kFloat32);
}

}  // namespace elias
