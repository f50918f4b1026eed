// Stochastic gradient descent with momentum and decoupled weight decay, for dense gradients and for
// gradients of few rows. As with AdamW, rows that were left alone end where the dense form has
// them; the recurrence is linear, so they do so exactly, up to rounding.
#pragma once

#include "ops/context.h"
#include "ops/lookup/row_gradient.h"
#include "ops/tensor.h"
#include "ops/update/rate_history.h"

namespace elias {

/// 0 <= momentum < 1, weight_decay >= 0.
struct SgdSettings {
  float momentum = 0;
  float weight_decay = 0;
};

/// Weights and their velocity, of one shape, float32. Without momentum there is no velocity.
struct SgdState {
  TensorView weights;
  TensorView velocity;
};

/// One step: u = momentum u + g,  w = w (1 - rate decay) - rate u.
void sgd(const Context& context, const SgdSettings& settings, float rate, ConstTensorView gradient,
         SgdState state);

/// As adamw_catch_up.
void sgd_catch_up(const Context& context, const SgdSettings& settings, const RateHistory& rates,
                  ConstTensorView rows, SgdState state, TensorView done_steps);

/// As adamw_rows.
void sgd_rows(const Context& context, const SgdSettings& settings, const RateHistory& rates,
              const RowGradient& gradient, SgdState state, TensorView done_steps);

}  // namespace elias
