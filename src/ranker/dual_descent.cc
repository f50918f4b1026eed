#include "ranker/dual_descent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/errors.h"
#include "base/random.h"

namespace elias {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float sigmoid(float t) { return 1 / (1 + std::exp(-t)); }

// Brings a row, which lies anywhere in memory, nearer while another one is worked on.
void prefetch(const CsrRow& row) {
  constexpr size_t kPerLine = 64 / sizeof(float);
  for (size_t i = 0; i < row.size(); i += kPerLine) {
    __builtin_prefetch(row.columns.data() + i);
    __builtin_prefetch(row.values.data() + i);
  }
}

// Where the dual variable of a logistic example is best, all others staying where they are:
//   the root z of  margin + curvature * (z - dual) + log(z / (cost - z)).
// With z = cost * sigmoid(t) the function of t rises with a slope in [1, 1 + curvature * cost / 4],
// and its root lies in a bracket that Newton's steps are kept in.
float best_logistic_dual(float margin, float curvature, float dual, float cost) {
  float low = -margin - curvature * (cost - dual);
  float high = -margin + curvature * dual;
  float t = std::clamp(-margin, low, high);
  constexpr int kMostSteps = 20;
  constexpr float kClose = 1e-6F;
  for (int step = 0; step < kMostSteps; ++step) {
    const float share = sigmoid(t);
    const float value = margin + curvature * (cost * share - dual) + t;
    if (std::abs(value) <= kClose * (1 + std::abs(t))) break;
    (value > 0 ? high : low) = t;
    const float next = t - value / (1 + curvature * cost * share * (1 - share));
    t = next > low && next < high ? next : (low + high) / 2;
  }
  return cost * sigmoid(t);
}

// Sorts weights, the largest first, and tells how many of them stay.
size_t kept_by(const WeightCut& cut, std::vector<FeatureWeight>& weights) {
  std::ranges::sort(weights, [](const FeatureWeight& a, const FeatureWeight& b) {
    const float size_a = std::abs(a.weight), size_b = std::abs(b.weight);
    return size_a != size_b ? size_a > size_b : a.feature < b.feature;
  });
  size_t kept = weights.size();
  if (cut.most > 0) kept = std::min(kept, static_cast<size_t>(cut.most));
  const auto square = [&](size_t i) {
    return double{weights[i].weight} * double{weights[i].weight};
  };
  while (kept > 0 && std::abs(weights[kept - 1].weight) < cut.least) --kept;
  double may_go = 0;
  for (size_t i = 0; i < kept; ++i) may_go += square(i);
  may_go *= double{cut.dropped_share};
  for (; kept > 0; --kept) {
    may_go -= square(kept - 1);
    if (may_go < 0) break;
  }
  return kept;
}

}  // namespace

DualDescent::DualDescent(uint64_t features, Isa isa)
    : loops_(sparse_loops(isa)), weights_(features) {
  ELIAS_ASSERT(features <= std::numeric_limits<int32_t>::max());
}

void DualDescent::set_up(const DescentProblem& problem, const DescentOptions& options) {
  ELIAS_ASSERT(problem.features.cols <= weights_.size());
  ELIAS_ASSERT(problem.points.size() == problem.positive.size());
  bias_ = 0;
  examples_.clear();
  for (size_t i = 0; i < problem.points.size(); ++i) {
    const uint32_t point = problem.points[i];
    const bool positive = problem.positive[i] != 0;
    examples_.push_back({.row = problem.features.row(point),
                         .sign = positive ? 1.0F : -1.0F,
                         .cost = options.cost * (positive ? options.positive_weight : 1),
                         .curvature = problem.squared_lengths[point] + 1,  // 1: of the bias
                         .dual = 0,
                         .moved = false});
  }
  order_.resize(examples_.size());
  std::iota(order_.begin(), order_.end(), 0U);
}

float DualDescent::margin(const Example& example) const {
  const CsrRow& row = example.row;
  return example.sign *
         (loops_.dot(row.columns.data(), row.values.data(), row.size(), weights_.data()) + bias_);
}

// Sets an example's variable, and w = sum of dual * y * x with it.
void DualDescent::move(Example& example, float dual) {
  const float step = (dual - example.dual) * example.sign;
  const CsrRow& row = example.row;
  loops_.add(row.columns.data(), row.values.data(), row.size(), step, weights_.data());
  bias_ += step;
  example.dual = dual;
  example.moved = true;
}

void DualDescent::shuffle(size_t count, uint64_t seed, uint64_t stream, int pass) {
  constexpr uint64_t kShuffle = 0x73687566666c65;  // apart from the streams of other uses
  const Random random(seed ^ kShuffle, stream << 20 | static_cast<uint64_t>(pass));
  for (size_t i = count; i > 1; --i) std::swap(order_[i - 1], order_[random.below(i, i)]);
}

// Shrinking: an example whose variable is at its bound of 0, and whose gradient would keep it
// there, is set aside until all others are done; then all are looked at again. Most negatives go
// after one look, so that a pass over the others is short.
void DualDescent::descend_squared_hinge(const DescentOptions& options, uint64_t seed,
                                        uint64_t stream) {
  size_t active = order_.size();
  bool all = true;
  for (int pass = 0; pass < options.passes; ++pass) {
    shuffle(active, seed, stream, pass);
    float highest = -kInfinity, lowest = kInfinity;
    for (size_t place = 0; place < active;) {
      Example& example = examples_[order_[place]];
      if (place + 1 < active) prefetch(examples_[order_[place + 1]].row);
      const float diagonal = 0.5F / example.cost;
      const float gradient = margin(example) - 1 + diagonal * example.dual;
      if (!all && example.dual == 0 && gradient > 0) {
        std::swap(order_[place], order_[--active]);
        continue;
      }
      const float projected = example.dual == 0 ? std::min(gradient, 0.0F) : gradient;
      highest = std::max(highest, projected);
      lowest = std::min(lowest, projected);
      if (projected != 0) {
        move(example, std::max(example.dual - gradient / (example.curvature + diagonal), 0.0F));
      }
      ++place;
    }
    const bool done = highest - lowest <= options.tolerance || active == 0;
    if (done && all) return;
    all = done;
    if (all) active = order_.size();
  }
}

void DualDescent::descend_logistic(const DescentOptions& options, uint64_t seed, uint64_t stream) {
  for (int pass = 0; pass < options.passes; ++pass) {
    shuffle(order_.size(), seed, stream, pass);
    float furthest = 0;
    for (size_t place = 0; place < order_.size(); ++place) {
      Example& example = examples_[order_[place]];
      if (place + 1 < order_.size()) prefetch(examples_[order_[place + 1]].row);
      const float own = margin(example);
      const float distance = std::abs(example.dual / example.cost - sigmoid(-own));
      furthest = std::max(furthest, distance);
      move(example, best_logistic_dual(own, example.curvature, example.dual, example.cost));
    }
    if (furthest <= options.tolerance) return;
  }
}

void DualDescent::solve(const DescentProblem& problem, const DescentOptions& options, uint64_t seed,
                        uint64_t stream) {
  set_up(problem, options);
  switch (options.loss) {
    case RankerLoss::kSquaredHinge:
      return descend_squared_hinge(options, seed, stream);
    case RankerLoss::kLogistic:
      return descend_logistic(options, seed, stream);
  }
}

// What weights bring to a point's margin, in the mean over the examples.
float DualDescent::mean_margin_of(std::span<const FeatureWeight> weights) {
  for (const auto& [feature, weight] : weights) weights_[feature] = weight;
  double sum = 0;
  for (const Example& example : examples_) {
    const CsrRow& row = example.row;
    sum += double{loops_.dot(row.columns.data(), row.values.data(), row.size(), weights_.data())};
  }
  for (const FeatureWeight& one : weights) weights_[one.feature] = 0;
  return static_cast<float>(sum / static_cast<double>(examples_.size()));
}

std::span<const FeatureWeight> DualDescent::take_weights(const WeightCut& cut) {
  taken_.clear();
  for (const Example& example : examples_) {
    if (!example.moved) continue;
    for (const uint32_t feature : example.row.columns) {
      const float weight = weights_[feature];
      weights_[feature] = 0;
      if (weight != 0) taken_.push_back({feature, weight});
    }
  }
  const size_t kept = kept_by(cut, taken_);
  if (kept < taken_.size()) bias_ += mean_margin_of(std::span(taken_).subspan(kept));
  taken_.resize(kept);
  std::ranges::sort(taken_, {}, &FeatureWeight::feature);
  return taken_;
}

}  // namespace elias
