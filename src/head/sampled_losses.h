// Losses of embedding classifiers on the labels that a batch has drawn (GLaS, algorithm 1).
//
// Each point draws one of its labels. The labels that any point drew are the columns of the batch's
// scores [N, R]; for a point with the score s of what it drew, those of them that are none of its
// own stand against it, with scores s'. Its loss is
//
//   margin    sum max(0, s' - s + c)           (eq. 1), of all s' or of the largest ones alone
//                                              (stochastic negative mining)
//   softmax   log(1 + sum exp(s' - s))
#pragma once

#include <cstdint>
#include <vector>

#include "index/shortlists.h"
#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

enum class SampledLoss : uint8_t { kMargin, kSoftmax };

struct SampledLossOptions {
  SampledLoss kind = SampledLoss::kMargin;
  float margin = 0.5F;  // c
  int64_t mined = 0;    // labels that count against a point; 0: all
  float weight = 1;     // of a point's loss in the gradients
};

struct DrawnLabels {
  static constexpr int32_t kNone = -1;  // of a point without labels

  std::vector<int32_t> labels;  // [R], rising
  std::vector<int32_t> own;     // [N] the place in `labels` of what each point drew, or kNone
};

/// A label of each point, all with the same chance: a function of seed, step and the point's place.
/// Labels count with a value above zero.
DrawnLabels draw_labels(const BatchLabels& labels, uint64_t seed, uint64_t step);

/// The losses of all points, summed and without their weight. Scores [N, R] become gradients.
double sampled_losses(const Context& context, const SampledLossOptions& options,
                      const BatchLabels& labels, const DrawnLabels& drawn, TensorView scores);

}  // namespace elias
