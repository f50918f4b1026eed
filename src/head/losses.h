// The losses of ELIAS on scored labels, and their gradients, entry by entry.
//
// An entry is a pair of point and label with its target t in [0, 1], its logit z and the score yhat
// of its best path. With sigma = 1 / (1 + exp(-z)) and p = yhat * sigma:
//
//   on p      -t log p - (1 - t) log(1 - p)               the paper's (eq. 7, misprinted there)
//   on z      -t log sigma - (1 - t) log(1 - sigma)       teaches z at full strength where yhat is
//                                                         small and the first sends it no gradient
//
// Gradients are taken with respect to z and to log yhat: yhat is a product of two softmaxes, so in
// log space nothing is divided and a tiny yhat costs no precision. For reporting, the logs of the
// loss on p are floored at -100, as the usual implementations do; gradients are those without the
// floor (that of log yhat goes up to 1e12).
#pragma once

#include <cstddef>
#include <span>

#include "ops/isa.h"

namespace elias {

/// The weight with which each loss counts in the gradients.
struct LossWeights {
  float on_p = 0;
  float on_z = 0;
};

/// Sums over entries, without their weights.
struct LossSums {
  double on_p = 0;
  double on_z = 0;

  void add(const LossSums& other) {
    on_p += other.on_p;
    on_z += other.on_z;
  }
};

/// n entries: sets dz and dlog_yhat [n].
struct LossEntries {
  const float* z;
  const float* yhat;     // in (0, 1]
  const float* targets;  // in [0, 1]
  float* dz;
  float* dlog_yhat;
  size_t size;
};
LossSums shortlist_losses(Isa isa, const LossEntries& entries, const LossWeights& weights);

/// Of entries with the target 0: the losses on z without their weight, and the gradients.
struct RejectionSums {
  double loss = 0;
  double gradient = 0;
};
/// The loss on z alone of entries with the target 0, whose logits are z [n] + bias: turns z into
/// the gradient, sigma times `weight`. A target t adds -t (z + bias) to the loss and -t weight to
/// the gradient.
RejectionSums rejection_losses(Isa isa, float weight, float bias, std::span<float> z);

}  // namespace elias
