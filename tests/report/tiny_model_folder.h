// A model made by hand, on disk: three clusters, the last of them empty, and six labels.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/model.h"
#include "tests/model/tiny_model.h"
#include "tests/temporary_folder.h"

namespace elias {

class TinyModelFolder {
 public:
  /// Without clusters for the method "ova".
  explicit TinyModelFolder(const std::string& method = "elias")
      : tiny_({.V = 3, .D = 2, .C = method == "elias" ? 3 : 0, .L = 6}) {
    const std::vector<float> vectors{1, 0, 3, 4, 2, 0, -1, 0, 0, 1, 0, -1};
    std::copy(vectors.begin(), vectors.end(), tiny_.label_weights.span<float>().begin());
    tiny_.offsets = {0, 4, 7, 7};
    tiny_.labels = {0, 1, 2, 3, 0, 1, 5};
    tiny_.scores = {1, 0.25F, 0.5F, 0, 0.75F, 0.3125F, 0.0625F};
    names_.set_form(LabelForm::kNames);
    for (const char* name : {"tea", "green tea", "coffee", "cocoa", "milk", "beer"}) {
      names_.resolve_name(name, "here");
    }
    write(method, tiny_.views());
  }

  /// The same model with other edges, in another folder.
  std::string write_with(const LabelGraphView& graph) {
    PredictorWeights weights = tiny_.views();
    weights.graph = graph;
    write("elias", weights);
    return path_;
  }

  const std::string& path() const { return path_; }
  LabelGraphView graph() const { return tiny_.views().graph; }
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  void write(const std::string& method, const PredictorWeights& weights) {
    path_ = temporary_ / ("model" + std::to_string(++models_));
    const ModelParts parts{
        .method = method,
        .members = {{.weights = weights,
                     .search = {.alpha = 0.1F, .beam = 2, .shortlist = 5, .gamma = 0.25F},
                     .stage1_clusters = method == "elias" ? std::span<const int32_t>(stage1_)
                                                          : std::span<const int32_t>()}},
        .fusion = {},
        .tfidf = nullptr,
        .labels = &names_,
        .label_counts = counts_,
        .points = 1234,
        .training = {{"seed", 7}}};
    write_model(path_, parts, LabelStorage::kFloat32);
  }

  TemporaryFolder temporary_;
  TinyModel tiny_;
  LabelSpace names_;
  std::vector<uint64_t> counts_{9, 5, 5, 0, 1, 0};
  std::vector<int32_t> stage1_{1, 0, 0, 0, 2, 0};
  int models_ = 0;
  std::string path_;
};

}  // namespace elias
