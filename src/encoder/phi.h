// What becomes of a point's vector at the end of every encoder: dropout in training, and unit
// length for embedding classifiers.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// What training adds: rates and where random numbers come from.
struct PhiNoise {
  float dropout = 0;  // of phi, 0 <= rate < 1
  uint64_t seed = 0;
  uint64_t step = 0;  // below 2^56; every step drops others
};

/// The stream of random numbers that decides what dropout leaves of phi in a step.
constexpr uint64_t phi_dropout_stream(uint64_t step) { return (uint64_t{1} << 56) + step; }

/// Room for phi. Kept between batches.
class PhiEnd {
 public:
  /// phi [N, D] of h [N, D], which must live as long; valid until the next call.
  ConstTensorView forward(const Context& context, ConstTensorView h,
                          const std::optional<PhiNoise>& noise, bool unit);
  /// dphi [N, D], contiguous, becomes dh; all else as the last forward pass had it.
  void backward(const Context& context, const std::optional<PhiNoise>& noise, bool unit,
                TensorView dphi);

 private:
  Tensor dropped_;         // phi, if there is dropout
  Tensor unit_, lengths_;  // phi, if it has unit length, and [N] what it had before
  ConstTensorView phi_;
};

}  // namespace elias
