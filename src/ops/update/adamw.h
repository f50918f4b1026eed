// AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019), for dense
// gradients and for gradients of few rows.
//
// A dense step moves every weight, also one whose gradient is zero: its moments decay, its momentum
// carries it on, weight decay shrinks it. The row-sparse form leaves rows that are not in use alone
// and makes up for all the steps they missed when they are next needed, in one pass: a row ends
// where the dense form would have put it (see row_catch_up.h for the method and the bound on the
// difference).
#pragma once

#include "ops/context.h"
#include "ops/lookup/row_gradient.h"
#include "ops/tensor.h"
#include "ops/update/rate_history.h"

namespace elias {

/// 0 <= beta < 1, epsilon > 0, weight_decay >= 0.
struct AdamWSettings {
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0.01F;
};

/// Weights and their two moments, of one shape, float32.
struct AdamWState {
  TensorView weights;
  TensorView first_moment;
  TensorView second_moment;
};

/// One step, the `step`-th (from 1), with the given rate:
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
///   w = w (1 - rate decay) - rate (m / (1 - beta1^step)) / (sqrt(v / (1 - beta2^step)) + epsilon).
void adamw(const Context& context, const AdamWSettings& settings, float rate, int64_t step,
           ConstTensorView gradient, AdamWState state);

/// Brings the given rows [R] (int32, distinct) of weights and moments [V, D] to where the dense
/// form has them after all steps of `rates`; done_steps [V] int32 says how far each row is. Call it
/// before a forward pass reads rows, and with all rows at the end of training. A catch-up in two
/// parts rounds otherwise than one: to go on to the same bits, a checkpoint keeps the rows as they
/// are, with their done_steps and the rates, and an evaluation in between works on a copy. Where
/// beta1 >= sqrt(beta2) momentum outlives the second moment, and the cost grows with the number of
/// missed steps.
void adamw_catch_up(const Context& context, const AdamWSettings& settings, const RateHistory& rates,
                    ConstTensorView rows, AdamWState state, TensorView done_steps);

/// The last step of `rates` for the rows of the gradient, which adamw_catch_up brought up to the
/// step before.
void adamw_rows(const Context& context, const AdamWSettings& settings, const RateHistory& rates,
                const RowGradient& gradient, AdamWState state, TensorView done_steps);

}  // namespace elias
