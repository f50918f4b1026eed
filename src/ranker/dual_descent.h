// One linear classifier of sparse points, by coordinate descent on the dual problem.
//
//   min over w, b of  1/2 |w|^2 + 1/2 b^2 + sum over points of cost_y * loss(y (w . x + b))
//
// with y = +-1 and loss(m) = max(0, 1 - m)^2 (Hsieh et al., "A dual coordinate descent method for
// large-scale linear SVM", ICML 2008) or log(1 + exp(-m)) (Yu, Huang and Lin, "Dual coordinate
// descent methods for logistic regression and maximum entropy models", Machine Learning 85, 2011).
// A step costs as much as its point has features. The weights of all features lie in one array,
// which a solver keeps from one classifier to the next: what a classifier costs does not depend on
// their number.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/csr.h"
#include "ranker/sparse_loops.h"

namespace elias {

enum class RankerLoss : uint8_t { kSquaredHinge, kLogistic };
inline constexpr std::array<std::string_view, 2> kRankerLossNames = {"squared-hinge", "logistic"};

struct DescentOptions {
  RankerLoss loss = RankerLoss::kSquaredHinge;
  float cost = 1;             // of y = -1
  float positive_weight = 1;  // times that: the cost of y = 1
  /// Ends where the largest and the smallest projected gradient of a pass are no further apart
  /// (squared hinge), or no dual variable is further from where its own margin would have it, in
  /// shares of the cost (logistic).
  float tolerance = 0.1F;
  int passes = 100;  // at most
};

/// Points [N x V] and which of them one classifier learns from.
struct DescentProblem {
  const Csr& features;
  std::span<const float> squared_lengths;  // [N] of the rows of `features`
  std::span<const uint32_t> points;        // [n]
  std::span<const uint8_t> positive;       // [n] 1: y = 1; 0: y = -1
};

/// Which weights of a classifier are kept. What the others bring to the margins of the points it
/// learned from, in the mean, goes to the bias: many small weights of one sign are much together
/// (YSO-Finna-EN, a fourth of its points, held-out nDCG@5: +0.4).
struct WeightCut {
  float least = 0;          // none that is smaller in size
  float dropped_share = 0;  // the smallest go while their squares sum to no more than this share
  int64_t most = 0;         // the largest so many; 0: all
};

/// A weight of a classifier.
struct FeatureWeight {
  uint32_t feature = 0;
  float weight = 0;
};

/// One thread's room.
class DualDescent {
 public:
  DualDescent(uint64_t features, Isa isa);

  /// Learns a classifier. The order of points is a function of `seed` and `stream`.
  void solve(const DescentProblem& problem, const DescentOptions& options, uint64_t seed,
             uint64_t stream);

  /// The weights that are kept, by rising feature. To be called once after solve().
  std::span<const FeatureWeight> take_weights(const WeightCut& cut);
  /// To be called after take_weights().
  float bias() const { return bias_; }

 private:
  struct Example {
    CsrRow row;
    float sign = 0;
    float cost = 0;
    float curvature = 0;  // of |w|^2 / 2 along the example's variable
    float dual = 0;       // its variable
    bool moved = false;   // ever: there may be a rounding error left of it
  };

  void set_up(const DescentProblem& problem, const DescentOptions& options);
  float margin(const Example& example) const;
  void move(Example& example, float dual);
  float mean_margin_of(std::span<const FeatureWeight> weights);
  void shuffle(size_t count, uint64_t seed, uint64_t stream, int pass);
  void descend_squared_hinge(const DescentOptions& options, uint64_t seed, uint64_t stream);
  void descend_logistic(const DescentOptions& options, uint64_t seed, uint64_t stream);

  SparseLoops loops_;
  std::vector<float> weights_;  // [V]; zeros between classifiers
  float bias_ = 0;
  std::vector<Example> examples_;
  std::vector<uint32_t> order_;  // of examples; the active ones first
  std::vector<FeatureWeight> taken_;
};

}  // namespace elias
