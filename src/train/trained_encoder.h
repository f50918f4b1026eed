// An encoder in training: its parameters, and its part of a step.
//
// A batch goes forward, the heads make of phi the gradient of phi, and the same batch goes
// backward; then all of the encoder's parameters are stepped.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encoder/encoder.h"
#include "encoder/points.h"
#include "encoder/pretrained.h"
#include "ops/context.h"
#include "train/optimiser.h"
#include "train/settings.h"

namespace elias {

class TrainedEncoder {
 public:
  virtual ~TrainedEncoder() = default;

  /// phi [N, D] of the points `batch` [N]; valid until the next call. Each stream has random
  /// numbers of its own.
  virtual ConstTensorView forward(const Context& context, const PointsView& points,
                                  std::span<const uint32_t> batch, uint64_t stream) = 0;
  /// From dphi [N, D], which is overwritten, to the gradients of all parameters, and steps them, at
  /// that share of their rates.
  virtual void backward(const Context& context, TensorView dphi, float share) = 0;

  /// Valid until the next call, or a step.
  virtual EncoderWeights weights(const Context& context, Weights which) = 0;

  /// In the order of checkpoints; the table is the first.
  virtual std::vector<Parameter*> parameters() = 0;
};

/// A bag of embeddings of V features.
std::unique_ptr<TrainedEncoder> make_trained_bag(const Context& context, const Settings& settings,
                                                 int64_t V);

/// A transformer that starts with a copy of the weights of `start` or, if it is a new one, with
/// random weights of its own seed.
std::unique_ptr<TrainedEncoder> make_trained_transformer(const Settings& settings,
                                                         const Pretrained& start);

}  // namespace elias
