// From features to ranked labels, with weights wherever they lie: in a mapped model or in training.
//
//   phi = encoder(x),  s = clamp(alpha softmax(W_C phi + b_C)),  the `beam` best clusters,
//   yhat = max over paths of s_c e_cl, the `shortlist` best labels,  z = w_l . phi + b_l,
//   score = sigmoid(z) * yhat^gamma                                (ELIAS, section 3; gamma = 1)
//
// Without clusters every label is scored exactly, by one pass over all: score = sigmoid(z); or,
// where labels have a graph of neighbours, those that a search through it comes by. Of an ensemble,
// the lists of the members become one (ranker/fusion.h). With a ranker, the best labels
// are put in a new order, and their scores are its own (model/reranker.h).
//
// Prediction is const: any number of threads may share a predictor, each with its own State. The
// scores of a point do not depend on the points predicted together with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "data/csr.h"
#include "encoder/encoder.h"
#include "encoder/points.h"
#include "index/label_graph.h"
#include "index/neighbour_graph.h"
#include "model/allowed_labels.h"
#include "model/reranker.h"
#include "ops/context.h"
#include "ops/product/linear.h"
#include "ops/tensor.h"
#include "ranker/fusion.h"

namespace elias {

struct PredictorWeights {
  int64_t features = 0;  // V of points, where the encoder is not a bag, which has as many
  EncoderWeights encoder;
  ConstTensorView cluster_weights;  // [C, D]; not given: by `neighbours`, or exact one-vs-all
  ConstTensorView cluster_bias;     // [C]
  LabelGraphView graph;
  ConstTensorView label_weights;  // [L, D] float32 or bfloat16
  ConstTensorView label_bias;     // [L]
  NeighbourGraphView neighbours = {};
};

struct SearchSettings {
  float alpha = 10;
  int64_t beam = 20;         // b, at most C
  int64_t shortlist = 1000;  // K, at most L
  float gamma = 1;           // the power of the shortlist score in the final score
  int64_t ef = 0;            // labels that a search through neighbours keeps, where there are any
};

/// One encoder with its index and classifiers: a whole model, or a member of an ensemble.
struct Member {
  PredictorWeights weights;
  SearchSettings search;
  std::span<const int32_t> stage1_clusters;  // [L] or empty; what stage 2 began with, for analyses
};

/// Scored labels of n points, best first (of equal scores the lower label): n rows of k places.
struct RankedLabels {
  std::span<int32_t> labels;  // [n * k]; -1 in places that no label fills
  std::span<float> scores;    // [n * k]
};

class MemberWeights;

class Predictor {
 public:
  class State {
   public:
    virtual ~State() = default;
  };

  /// From how many labels of each member, or more if more are wanted, one list is made.
  static constexpr int64_t kFused = 100;

  /// The weights must outlive the predictor. Throws InputError if shapes do not fit together. The
  /// ranker, if there is one, must fit (check_ranker), and sees the vector of the first member.
  Predictor(const Context& context, std::span<const Member> members, Fusion fusion,
            std::optional<RankerPart> ranker);
  /// Of one member.
  Predictor(const Context& context, const PredictorWeights& weights, const SearchSettings& settings,
            std::optional<RankerPart> ranker = {});
  ~Predictor();

  int64_t labels() const;
  /// Every label of a point is scored: there is no index.
  bool scans() const;
  const MemberWeights& member(size_t m) const;
  /// How many labels each member is asked for where k are wanted: fusion and ranker see at least
  /// asked(0).
  int64_t asked(int64_t k) const;

  /// Room for predictions by one thread at a time; it grows to what the largest call needs.
  std::unique_ptr<State> make_state() const;

  /// The k best labels of the rows [begin, end) of the points. Labels that
  /// are not `allowed` are dropped before the shortlist is cut, so that it holds K allowed ones.
  /// Where no more than K labels are allowed, all of them are scored: one that the search does not
  /// find counts as found with yhat = 2^-126. Members of an ensemble work at the same time where
  /// the context has threads to spare.
  void predict(const Context& context, const PointsView& points, size_t begin, size_t end,
               int64_t k, const AllowedLabels& allowed, State& state,
               const RankedLabels& ranked) const;

 private:
  struct Parts;
  class Room;
  std::unique_ptr<Parts> parts_;
};

/// All points on all threads: N x L, at most k entries a row.
Csr predict_all(const Context& context, const Predictor& predictor, const PointsView& points,
                int64_t k, const AllowedLabels& allowed = {});

}  // namespace elias
