// Why a label was predicted for a point, or was not: every number on the way from the point's
// features to the label's score (model/predictor.h), to the bit as a prediction computes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/model.h"

namespace elias {

/// A way to the label: through a cluster c, along its edge.
struct ExplainedPath {
  int64_t cluster = 0;
  float cluster_score = 0;  // s_c
  float edge_score = 0;     // e_cl
  float score = 0;          // s_c * e_cl
  bool in_beam = false;     // whether the cluster was searched
};

/// What became of the label in a member's search.
enum class SearchOutcome : uint8_t {
  kScored,      // it is in the shortlist, or there is no index and every label is scored
  kCut,         // a path leads to it, but those of K other labels are better
  kNotReached,  // no path of a score above 0 from a cluster in the beam
};

/// What one member says of the label.
struct ExplainedMember {
  SearchOutcome outcome = SearchOutcome::kScored;
  float z = 0;
  float sigmoid_z = 0;
  float yhat = 0;  // the score of the best path in the beam; without an index 1
  float p = 0;     // sigmoid(z) * yhat^gamma; 0 unless it is scored
  /// Of all clusters that lead to the label: those in the beam first, then by score.
  std::vector<ExplainedPath> paths;
};

/// What a feature of the point adds to the ranker's margin.
struct ExplainedWord {
  uint32_t feature = 0;
  float value = 0;   // in the ranker's input
  float weight = 0;  // of the label
  float adds = 0;    // value * weight
};

/// margin = bias + what the words add + what the vector adds, up to rounding.
struct ExplainedMargin {
  float margin = 0;
  float q = 0;
  float bias = 0;
  std::vector<ExplainedWord> words;  // with a weight of the label, by the size of what they add
  float vector_adds = 0;             // all elements of phi together
  bool counts = false;               // whether it went into the score: the label is one of the top
};

struct ExplainedLabel {
  uint32_t label = 0;
  int64_t rank = 0;  // from 1; 0: it is not in the list
  float score = 0;   // 0 if it is not
  std::vector<ExplainedMember> members;
  /// What the ranker is told: the one member's p, or the fusion of theirs. None if no member has
  /// the label in its list.
  std::optional<float> p;
  std::optional<ExplainedMargin> margin;  // none: the model has no ranker
};

/// One thread's room for explanations. Context and model must outlive it.
class Explainer {
 public:
  Explainer(const Context& context, const Model& model);
  ~Explainer();

  /// Of one of the points, which the model's predictor can take: its k best
  /// labels, best first; or `labels`, if there are any, in the given order, found or not.
  ///
  /// Ranks are those of a prediction: for `labels`, of one that goes through to the end of the
  /// shortlist; of an ensemble, through what its members are asked for where k labels are wanted.
  std::vector<ExplainedLabel> explain(const PointsView& points, size_t point, int64_t k,
                                      std::span<const uint32_t> labels = {});

 private:
  class Room;
  std::unique_ptr<Room> room_;
};

}  // namespace elias
