// A model that is loaded, with all that Python asks of it. It knows nothing of Python: points come
// from a reader, batch by batch, and answers are the engine's.
//
// All is const and may be called by several threads at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/scratch_pool.h"
#include "data/point_reader.h"
#include "metrics/evaluate.h"
#include "model/model.h"

namespace elias::python {

class LoadedModel {
 public:
  /// Throws InputError if the folder holds no sound model, or `exact` is asked of one that finds
  /// labels by clusters.
  LoadedModel(std::string folder, int threads, bool exact);

  const Model& model() const { return model_; }
  const std::string& folder() const { return folder_; }

  struct Wanted {
    int64_t k = 0;
    std::optional<Thresholds> thresholds = {};  // none: the k best whatever their score
    AllowedLabels allowed = {};
  };
  /// N x L.
  Csr predict(PointReader& points, const Wanted& wanted) const;

  /// [N, D], row by row, by the encoder of a member, from 1. Throws InputError if there is none.
  std::vector<float> embed(PointReader& points, int64_t member) const;

  /// The figures that `elias evaluate --model` prints. `space` is what the points' labels are of.
  Evaluation evaluate(PointReader& points, const LabelSpace& space, const std::string& propensity,
                      const std::optional<Thresholds>& thresholds) const;

  /// One object a point, as `elias explain --json` prints. Without `labels` of the k best.
  std::vector<nlohmann::ordered_json> explain(PointReader& points, int64_t k,
                                              const std::vector<std::string>& labels,
                                              size_t words) const;

  /// As `elias inspect --json` prints; of one label, if it is given.
  nlohmann::ordered_json inspect(const std::optional<std::string>& label) const;

  /// The label of that name. Throws InputError, with the nearest names, if there is none.
  uint32_t label_of(const std::string& name) const;
  /// Those of the names. Throws InputError if there are none.
  AllowedLabels allowed(const std::vector<std::string>& candidates) const;
  /// Those that the model has. Throws InputError if it has none.
  Thresholds thresholds() const;

 private:
  Context context() const;
  Points next_points(const PointReader& reader, PointBatch& batch) const;
  Csr best_labels(const PointsView& points, const Wanted& wanted) const;

  std::string folder_;
  int threads_;
  Model model_;
  mutable ScratchPool<Predictor::State> states_;
};

}  // namespace elias::python
