// The labels of points by their clusters: the inner part of a predictor that has an index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/beam.h"
#include "index/search.h"
#include "model/label_scores.h"
#include "model/predictor.h"

namespace elias {

/// Weights as they are given, and those of the clusters as products read them.
struct SearchWeights {
  const PredictorWeights& given;
  PackedWeights clusters;
};

/// One thread's room for it. Memory is that of the largest call so far.
class ShortlistSearch {
 public:
  ShortlistSearch(Isa isa, const PredictorWeights& weights, const SearchSettings& settings);

  /// The k best labels of phi [n, D]. `allowed` [L] or empty. `listed`: if not empty, the labels of
  /// `allowed`, at most K of them, all of which are scored.
  void rank(const Context& context, const SearchWeights& weights, ConstTensorView phi, int64_t k,
            std::span<const uint8_t> allowed, std::span<const int32_t> listed,
            const RankedLabels& ranked);

  /// How the last call, which was for one point, went: its clusters,
  const Beam& beam() const { return beam_; }
  /// the score of the best path to a label, 0 if there is none,
  float yhat(int32_t label) const { return search_.score(label); }
  /// and whether the label was among those scored.
  bool is_in_shortlist(int32_t label) const;

 private:
  void list_labels(std::span<const uint8_t> allowed, std::span<const int32_t> listed);

  SearchSettings settings_;
  Beam beam_;
  LabelSearch search_;
  size_t count_ = 0;                 // of labels in the shortlist
  std::vector<int32_t> labels_;      // [K], rising
  std::vector<float> yhat_, z_;      // [K]
  std::vector<ScoredLabel> scored_;  // [K]
};

}  // namespace elias
