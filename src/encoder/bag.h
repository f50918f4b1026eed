// The bag-of-embeddings encoder: a point's weighted features to a vector phi.
//
//   h = ReLU(LayerNorm(sum over the features of weight * table[feature]))
//   for each further layer: h = h + ReLU(LayerNorm(h W' + b))
//   phi = Dropout(h)
//
// In training each feature is first left out with the rate of word dropout (the others keep their
// weights: layer norm takes the scale out). Weights are views, so that training, a memory-mapped
// model and averages all run through the same code.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/context.h"
#include "ops/lookup/embedding_bag.h"
#include "ops/lookup/row_gradient.h"
#include "ops/product/linear.h"
#include "ops/tensor.h"

namespace elias {

/// A residual layer. View is ConstTensorView to read, TensorView for gradients.
template <typename View>
struct BagLayer {
  View weights;  // [D, D]
  View bias;     // [D]
  View gain;     // [D], of the layer norm
  View shift;    // [D]
};

/// The weights, or the gradients of all but the table.
template <typename View>
struct BagWeights {
  View table;  // [V, D]; not used in gradients
  View gain;   // [D], of the layer norm
  View shift;  // [D]
  std::vector<BagLayer<View>> layers;
};

/// What training adds: rates and where random numbers come from.
struct BagNoise {
  float dropout = 0;  // of phi, 0 <= rate < 1
  uint64_t seed = 0;
  uint64_t step = 0;  // every step drops others
};

/// What a forward pass leaves for the backward pass. Kept between batches, so that a batch of no
/// more points than an earlier one allocates nothing.
class BagActivations {
 public:
  /// phi [N, D] of the last forward pass.
  ConstTensorView phi() const;

 private:
  friend void encode_bags(const Context&, const BagWeights<ConstTensorView>&, const Bags&,
                          Precision, const std::optional<BagNoise>&, BagActivations&);
  friend RowGradient encode_bags_backward(const Context&, const BagWeights<ConstTensorView>&,
                                          const Bags&, Precision, const std::optional<BagNoise>&,
                                          TensorView, BagActivations&,
                                          const BagWeights<TensorView>&);

  struct Layer {
    Tensor normed_input, mean, inverse_deviation, output;
  };
  int64_t points_ = 0;
  std::vector<Layer> layers_;  // the bag, then the residual layers
  Tensor phi_;
};

/// Without noise: as in prediction. `precision` is that of the residual layers' products.
void encode_bags(const Context& context, const BagWeights<ConstTensorView>& weights,
                 const Bags& bags, Precision precision, const std::optional<BagNoise>& noise,
                 BagActivations& activations);

/// From dphi [N, D] (which is overwritten, and must live as long as the result) the gradient of the
/// table; adds to those of the other weights.
RowGradient encode_bags_backward(const Context& context, const BagWeights<ConstTensorView>& weights,
                                 const Bags& bags, Precision precision,
                                 const std::optional<BagNoise>& noise, TensorView dphi,
                                 BagActivations& activations,
                                 const BagWeights<TensorView>& gradients);

}  // namespace elias
