// The running average of weights over the later steps of training (Izmailov et al., "Averaging
// Weights Leads to Wider Optima and Better Generalization", UAI 2018).
#pragma once

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// average += (weights - average) / count: with count = 1, 2, 3 ... at each call the average is
/// that of all weights given so far, whatever it held before the first. Any equal shapes, float32.
void running_average(const Context& context, ConstTensorView weights, int64_t count,
                     TensorView average);

}  // namespace elias
