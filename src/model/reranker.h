// The second opinion on what a search found: the sparse ranker's margins, mixed with the scores of
// the search, put its best labels in their final order (ELIAS, section 3.5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/csr.h"
#include "model/label_scores.h"
#include "ranker/ranker_input.h"
#include "ranker/score_mix.h"
#include "ranker/sparse_ranker.h"

namespace elias {

/// A model's ranker; views belong to whoever made it.
struct RankerPart {
  SparseRankerView weights;  // over the columns of its input (ranker/ranker_input.h)
  RankerInputOptions input;
  int64_t top = 100;  // labels of a point that are put in a new order
  ScoreMix mix;
  std::span<const uint64_t> label_counts;  // [L] training points of each label
};

/// Throws InputError, with `name` in front, if it does not fit a model of V features, width D and L
/// labels.
void check_ranker(const RankerPart& ranker, int64_t V, int64_t D, int64_t L,
                  const std::string& name, ThreadPool& pool);

/// One thread's room.
class Reranker {
 public:
  Reranker(const RankerPart& ranker, int64_t V, int64_t D, Isa isa);

  /// `labels` and `scores` of a point, best first, those of the search, become those of the ranker.
  /// Labels behind the first `top` stay where they are, with scores that fall from the last of
  /// those as the scores of the search do: so a longer list begins as a shorter one does, and holds
  /// the same labels as without a ranker.
  void rank(const RankerPart& ranker, const CsrRow& words, std::span<const float> phi,
            std::span<int32_t> labels, std::span<float> scores);

 private:
  int64_t V_;
  RankerInput input_;
  RankerQuery query_;
  std::vector<float> margins_;
  std::vector<ScoredLabel> scored_;
};

}  // namespace elias
