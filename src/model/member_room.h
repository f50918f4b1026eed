// One member of a predictor: from features to the labels that its own index and classifiers find.
#pragma once

#include <optional>
#include <span>

#include "model/exact_scan.h"
#include "model/nearest_labels.h"
#include "model/predictor.h"
#include "model/shortlist_search.h"

namespace elias {

/// Weights as they are given, and as products read them. Shared by all threads.
class MemberWeights {
 public:
  /// Throws InputError if shapes do not fit together.
  MemberWeights(const Context& context, const Member& member);
  MemberWeights(const MemberWeights&) = delete;
  MemberWeights& operator=(const MemberWeights&) = delete;

  int64_t features() const;                                         // V
  int64_t width() const { return weights_.encoder.width(); }        // D
  int64_t labels() const { return weights_.label_weights.rows(); }  // L
  /// Every label of a point is scored.
  bool scans() const { return !search_ && !near_; }

 private:
  friend class MemberRoom;
  PredictorWeights weights_;
  SearchSettings settings_;
  PackedEncoder encoder_;
  std::optional<SearchWeights> search_;  // none: exact one-vs-all, or
  std::optional<RowDots> near_;          // by neighbours
};

/// One thread's room: everything that a prediction writes to.
class MemberRoom {
 public:
  /// Of a call. A scan reads the weights of all labels once for so many.
  static constexpr size_t kMostPoints = 256;

  MemberRoom(const MemberWeights& weights, Isa isa);

  /// phi of the points [begin, end), at most kMostPoints of them; valid until the next call.
  ConstTensorView encode(const Context& context, const PointsView& points, size_t begin,
                         size_t end);

  /// The k best labels of phi.
  void rank(const Context& context, ConstTensorView phi, int64_t k, const AllowedLabels& allowed,
            const RankedLabels& ranked);

  /// How labels were found; null if there are no clusters.
  const ShortlistSearch* search() const { return search_ ? &*search_ : nullptr; }

 private:
  const MemberWeights& weights_;
  EncoderRoom encoder_;
  std::optional<ShortlistSearch> search_;
  std::optional<NearestLabels> nearest_;
  ExactScan scan_;
};

}  // namespace elias
