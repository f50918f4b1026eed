// The bag-of-embeddings encoder: a point's weighted features to a vector phi.
//
//   h = ReLU(LayerNorm(sum over the features of weight * table[feature]))
//   for each further layer: h = h + ReLU(LayerNorm(h W' + b))
//   phi = Dropout(h)
//
// An embedding classifier (GLaS, section 3.1) has another form of it: gain * sum + shift in the
// place of the layer norm, maybe without ReLU, and phi of unit length.
//
// In training each feature is first left out with the rate of word dropout (the others keep their
// weights: a layer norm takes the scale out; without one, gain and shift learn it). Weights are
// views, so that training, a memory-mapped model and averages all run through the same code.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/phi.h"
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

/// What becomes of the sum of a point's embeddings. Residual layers have one form.
struct BagForm {
  bool layer_norm = true;  // else gain and shift alone
  bool relu = true;        // else the sum stays linear
  bool unit = false;       // phi has unit length, or is 0
  bool operator==(const BagForm&) const = default;
};

/// The weights, or the gradients of all but the table.
template <typename View>
struct BagWeights {
  View table;  // [V, D]; not used in gradients
  View gain;   // [D], of the layer norm
  View shift;  // [D]
  std::vector<BagLayer<View>> layers;
  BagForm form{};  // not used in gradients
};

/// The weights of the residual layers as products read them. Made once for weights that stay as
/// they are, and anew after every step of training.
struct PackedBag {
  std::vector<PackedWeights> layers;
};

PackedBag pack_bag(const Context& context, const BagWeights<ConstTensorView>& weights,
                   Precision precision);

/// What a forward pass leaves for the backward pass. Kept between batches, so that a batch of no
/// more points than an earlier one allocates nothing.
class BagActivations {
 public:
  /// phi [N, D] of the last forward pass.
  ConstTensorView phi() const { return phi_; }

 private:
  friend class BagPass;

  // [N, D], or [N], of the largest N so far. The bag's output is what its ReLU gives.
  struct Layer {
    Tensor normed_input, mean, inverse_deviation, activated, output;
  };
  std::vector<Layer> layers_;  // the bag, then the residual layers
  PhiEnd end_;
  ConstTensorView phi_;
  Tensor layer_gradient_, input_gradient_;
};

/// Without noise: as in prediction. `packed` is of the same weights.
void encode_bags(const Context& context, const BagWeights<ConstTensorView>& weights,
                 const PackedBag& packed, const Bags& bags, const std::optional<PhiNoise>& noise,
                 BagActivations& activations);

/// From dphi [N, D], contiguous (it is overwritten, and must live as long as the result) the
/// gradient of the table; adds to those of the other weights. All else is as the last forward pass
/// had it.
RowGradient encode_bags_backward(const Context& context, const BagWeights<ConstTensorView>& weights,
                                 Precision precision, const Bags& bags,
                                 const std::optional<PhiNoise>& noise, TensorView dphi,
                                 BagActivations& activations,
                                 const BagWeights<TensorView>& gradients);

}  // namespace elias
