// A sparse linear classifier for every label, to put the labels that a search found in a better
// order (ELIAS, section 3.5).
//
// A label's classifier learns from all its points and from those that the search finds it for
// without its being true: these are what it will have to tell apart. The score of a label is
//
//   q = exp(-max(0, 1 - m)^3)  (squared hinge) or  sigmoid(m)  (logistic),  m = w_l . x + b_l
//
// Work and memory follow the features of these points: there is no vector of all features a label.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "ops/isa.h"
#include "ranker/dual_descent.h"

namespace elias {

struct RankerOptions {
  DescentOptions descent{};
  WeightCut cut{};
  uint64_t seed = 0;
};

/// Whose weights lie together. A point is ranked by a pass over the weights of its labels, or of
/// its features: the fewer, the faster.
enum class RankerLayout : uint8_t { kByLabel, kByFeature };

/// The classifiers wherever they lie. A row is a label's, or a feature's.
struct SparseRankerView {
  RankerLayout layout = RankerLayout::kByLabel;
  std::span<const int64_t> offsets;  // [L + 1] or [V + 1]: the weights of row r are [r, r + 1)
  std::span<const uint32_t> ids;     // [E], rising within a row: features, or labels
  std::span<const float> weights;    // [E]
  std::span<const float> bias;       // [L]

  int64_t labels() const { return static_cast<int64_t>(bias.size()); }
  size_t size_of(size_t row) const { return static_cast<size_t>(offsets[row + 1] - offsets[row]); }
  /// 0 if there is none.
  float weight(uint32_t label, uint32_t feature) const;
};

/// Classifiers of the labels [0, bias.size()).
struct SparseRanker {
  RankerLayout layout = RankerLayout::kByLabel;
  std::vector<int64_t> offsets{0};
  std::vector<uint32_t> ids;
  std::vector<float> weights;
  std::vector<float> bias;

  SparseRankerView view() const { return {layout, offsets, ids, weights, bias}; }
};

/// The same classifiers, which lie by label, of V features, by feature.
SparseRanker by_feature(const SparseRanker& ranker, int64_t features);

/// The better layout for classifiers that lie by label, judged by points [N x V] and the labels
/// found for them [N x L].
RankerLayout better_layout(const SparseRankerView& ranker, const Csr& points, const Csr& found);

/// Throws InputError, with the name of the file, if the classifiers cannot be of L labels and V
/// features.
void check_sparse_ranker(const SparseRankerView& ranker, int64_t labels, int64_t features,
                         const std::string& name, ThreadPool& pool);

class RankerTrainer {
 public:
  /// `features` [N x V], `labels` [N x L] and `found` [N x L], the labels that the search finds for
  /// each point; the first must outlive the trainer.
  RankerTrainer(const Csr& features, const Csr& labels, const Csr& found,
                const RankerOptions& options, Isa isa);

  int64_t labels() const { return static_cast<int64_t>(true_points_.rows()); }
  /// Pairs of a point and a label that the labels [0, end) learn from: a measure of the work.
  uint64_t pairs_below(int64_t end) const { return pairs_[static_cast<size_t>(end)]; }
  /// Adds the classifiers of the labels up to `end` to those that are there.
  void extend(SparseRanker& ranker, int64_t end, ThreadPool& pool) const;

 private:
  struct Room;
  void list_points(size_t label, std::vector<uint32_t>& points) const;
  void learn(size_t label, Room& room) const;

  const Csr& features_;
  RankerOptions options_;
  Isa isa_;
  std::vector<float> squared_lengths_;  // [N]
  Csr true_points_, found_points_;      // [L x N]
  std::vector<uint64_t> pairs_;         // [L + 1], of the labels before each
};

/// The margins of labels for one point at a time. One thread's room.
class RankerQuery {
 public:
  /// Of a ranker of V features, whose views must stay.
  RankerQuery(const SparseRankerView& ranker, int64_t features, Isa isa);

  /// m of each label for the point.
  void margins(const CsrRow& point, std::span<const int32_t> labels, std::span<float> margins);

 private:
  void pass_over_labels(const CsrRow& point, std::span<const int32_t> labels,
                        std::span<float> margins);
  void pass_over_features(const CsrRow& point, std::span<const int32_t> labels,
                          std::span<float> margins);

  void prefetch_row(size_t row) const;

  SparseRankerView ranker_;
  SparseLoops loops_;
  std::vector<float> room_;  // by label: [V] the point, zeros between points; by feature: [L] sums
};

/// q of a margin.
float ranker_score(RankerLoss loss, float margin);

}  // namespace elias
