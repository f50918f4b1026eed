// What a row that was left alone from step t to step T must make up for.
//
// Between the two its gradient was zero, so all that happened to it follows from the settings and
// the rates: rows with the same t share every scalar, and an element needs no loop over the missed
// steps.
//
// AdamW. With k = 1 .. T - t the missed steps, d_s = 1 - rate_s decay and the moments m, v as of t,
//   w_T = w_t prod_k d_(t+k) - m sum_k c_k / (sqrt(v) r_k + epsilon),
//   c_k = rate_(t+k) beta1^k / (1 - beta1^(t+k)) prod_(l>k) d_(t+l),
//   r_k = beta2^(k/2) / sqrt(1 - beta2^(t+k)).
// r_k falls slowly, so the steps are cut into segments in which it stays within 8 % of a centre r.
// There, with d = sqrt(v) r + epsilon, q = sqrt(v) r / d <= 1 and u_k = r_k / r - 1,
//   sum_k c_k / (sqrt(v) r_k + epsilon) = 1 / d sum_j (-q)^j sum_k c_k u_k^j,
// of which j = 0 .. 6 are taken: what is left out is below 0.08^7 = 2.1e-8 of the sum. An element
// so needs one square root, and a division and a polynomial a segment: a dozen segments after the
// first steps of a training, one or two after some hundred. Late steps in which momentum can move
// next to nothing are left out: those over which (beta1 / sqrt(beta2))^k adds up to 1e-12.
//
// Bound: a weight is off by at most 1e-6 of the way it travelled (the sum of the sizes of its
// missed moves), and 2^-22 of its own size for rounding, and 1e-8 of what the first missed move
// would have been at the largest missed rate, for the steps left out. Moments are off by 2^-22 of
// themselves; those below the smallest normal float are zero.
//
// SGD. The recurrence is linear: w_T = w_t prod d - u sum_k rate_(t+k) momentum^k prod_(l>k) d.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "ops/tensor.h"
#include "ops/update/adamw.h"
#include "ops/update/rate_history.h"
#include "ops/update/sgd.h"

namespace elias {

/// Some consecutive missed steps of AdamW, in the notation above.
struct AdamWSegment {
  float centre = 0;                // r
  std::array<float, 7> moments{};  // (-1)^j sum_k c_k u_k^j, j = 0 .. 6
};

/// From done_steps t to the last step. Moments and weight are multiplied by their factors; the
/// segments say how far the first moment carries the weight.
struct AdamWCatchUp {
  float weight_factor = 1;
  float first_factor = 1;
  float second_factor = 1;
  int32_t segments_begin = 0;
  int32_t segments_end = 0;
};

/// The catch-ups of all rows that one call brings up to date.
class AdamWCatchUps {
 public:
  /// For the rows [R] of done_steps [V], int32 on the CPU, as check_catch_up wants them.
  AdamWCatchUps(ThreadPool& pool, const AdamWSettings& settings, const RateHistory& rates,
                ConstTensorView rows, ConstTensorView done_steps);

  /// For a row of the call that has done that many steps, less than all.
  const AdamWCatchUp& after(int32_t done_steps) const {
    return catch_ups_[places_[done_steps - first_]];
  }
  const std::vector<AdamWSegment>& segments() const { return segments_; }

 private:
  int64_t first_;                // the fewest done steps of the rows
  std::vector<int32_t> places_;  // in catch_ups_, of each number of done steps from first_ on
  std::vector<AdamWCatchUp> catch_ups_;
  std::vector<AdamWSegment> segments_;
};

/// From done_steps t to the last step: w = weight_factor w - carry u, u = velocity_factor u.
struct SgdCatchUp {
  float weight_factor = 1;
  float carry = 0;
  float velocity_factor = 1;
};

/// catch_ups[t - first] for every number t of done steps from `first` to the last.
std::vector<SgdCatchUp> sgd_catch_ups(const SgdSettings& settings, const RateHistory& rates,
                                      int64_t first);

/// Throws InputError, in the name of `op`, unless rows [R] are distinct rows of the weights [V, D]
/// and no step of them is beyond the rates. Only values in CPU memory are looked at.
void check_catch_up(std::string_view op, const RateHistory& rates, ConstTensorView rows,
                    ConstTensorView weights, ConstTensorView done_steps);

/// Throws InputError unless the gradient is one of the weights [V, D], and its rows have done all
/// steps of the rates but the last. Only values in CPU memory are looked at.
void check_last_step(std::string_view op, const RateHistory& rates, const RowGradient& gradient,
                     ConstTensorView weights, ConstTensorView done_steps);

}  // namespace elias
