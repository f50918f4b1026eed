// The bag encoder on the operators: every pass is a chain of them over views of the activations.
#include "encoder/bag.h"

#include <utility>

#include "encoder/affine.h"
#include "ops/room.h"
#include "ops/rows/layer_norm.h"
#include "ops/rows/relu.h"

namespace elias {
namespace {

// Keeps the norm of a point without features, all zeros, finite.
constexpr float kLayerNormEpsilon = 1e-5F;

// sum = a + b; sum may be a. All contiguous.
void add(const Context& context, ConstTensorView a, ConstTensorView b, TensorView sum) {
  constexpr size_t kValuesPerChunk = 16384;
  const auto left = a.span<float>();
  const auto right = b.span<float>();
  const auto result = sum.span<float>();
  ELIAS_ASSERT(left.size() == result.size() && right.size() == result.size());
  context.pool().for_chunks(result.size(), kValuesPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) result[i] = left[i] + right[i];
  });
}

}  // namespace

// A batch's views of the activations, and what both passes do with them.
class BagPass {
 public:
  BagPass(const Context& context, const BagWeights<ConstTensorView>& weights, int64_t points,
          const std::optional<PhiNoise>& noise, BagActivations& kept)
      : context_(context),
        weights_(weights),
        matrix_{points, weights.table.width()},
        noise_(noise),
        kept_(kept) {
    kept.layers_.resize(1 + weights.layers.size());
  }

  void forward(const Bags& bags, const PackedBag& packed) {
    ELIAS_ASSERT(packed.layers.size() == weights_.layers.size());
    const TensorView sum = room(kept_.layers_[0].normed_input, matrix_);
    embedding_bag(context_, bags, weights_.table, sum);
    TensorView h = activate_bag(sum);
    for (size_t i = 0; i < weights_.layers.size(); ++i) {
      const BagLayer<ConstTensorView>& layer = weights_.layers[i];
      BagActivations::Layer& kept = kept_.layers_[i + 1];
      const TensorView mixed = room(kept.normed_input, matrix_);
      linear(context_, h, packed.layers[i], layer.bias, Activation::kNone, mixed);
      const TensorView activated = activate(mixed, layer.gain, layer.shift, kept);
      const TensorView output = room(kept.output, matrix_);
      add(context_, h, activated, output);
      h = output;
    }
    kept_.phi_ = kept_.end_.forward(context_, h, noise_, weights_.form.unit);
  }

  RowGradient backward(const Bags& bags, Precision precision, TensorView dphi,
                       const BagWeights<TensorView>& gradients) {
    ELIAS_ASSERT(kept_.phi_.shape() == matrix_ && dphi.shape() == matrix_);
    ELIAS_ASSERT(gradients.layers.size() == weights_.layers.size());
    kept_.end_.backward(context_, noise_, weights_.form.unit, dphi);
    for (size_t i = weights_.layers.size(); i-- > 0;) {
      residual_backward(i, precision, dphi, gradients.layers[i]);
    }
    activate_bag_backward(dphi, gradients);
    return embedding_bag_backward(context_, bags, dphi, weights_.table.shape()[0]);
  }

 private:
  // What the form makes of the sum of embeddings, in the first layer's room.
  TensorView activate_bag(ConstTensorView sum) {
    const BagForm& form = weights_.form;
    BagActivations::Layer& kept = kept_.layers_[0];
    const TensorView y = room(kept.activated, matrix_);
    if (form.layer_norm) {
      layer_norm(context_, sum, weights_.gain, weights_.shift, kLayerNormEpsilon, y, saved(kept));
    } else {
      affine(context_, sum, weights_.gain, weights_.shift, y);
    }
    if (form.relu) relu(context_, y, y);
    return y;
  }

  // dh becomes that of the sum.
  void activate_bag_backward(TensorView dh, const BagWeights<TensorView>& gradients) {
    const BagForm& form = weights_.form;
    BagActivations::Layer& kept = kept_.layers_[0];
    const TensorView sum = room(kept.normed_input, matrix_);
    if (form.relu) relu_backward(context_, dh, room(kept.activated, matrix_), dh);
    if (form.layer_norm) {
      layer_norm_backward(context_, dh, sum, weights_.gain, saved(kept), dh, gradients.gain,
                          gradients.shift);
    } else {
      affine_backward(context_, sum, weights_.gain, dh, gradients.gain, gradients.shift);
    }
  }

  // ReLU(LayerNorm(x)), in the layer's room.
  TensorView activate(ConstTensorView x, ConstTensorView gain, ConstTensorView shift,
                      BagActivations::Layer& kept) {
    const TensorView y = room(kept.activated, matrix_);
    layer_norm(context_, x, gain, shift, kLayerNormEpsilon, y, saved(kept));
    relu(context_, y, y);
    return y;
  }

  // dx of dy (dx may be dy); adds to the other two.
  void activate_backward(ConstTensorView dy, ConstTensorView gain, BagActivations::Layer& kept,
                         TensorView dx, TensorView dgain, TensorView dshift) {
    relu_backward(context_, dy, room(kept.activated, matrix_), dx);
    layer_norm_backward(context_, dx, room(kept.normed_input, matrix_), gain, saved(kept), dx,
                        dgain, dshift);
  }

  // dh is that of the layer's output, and becomes that of its input.
  void residual_backward(size_t i, Precision precision, TensorView dh,
                         const BagLayer<TensorView>& gradients) {
    const BagLayer<ConstTensorView>& layer = weights_.layers[i];
    BagActivations::Layer& below = kept_.layers_[i];
    const TensorView input = room(i == 0 ? below.activated : below.output, matrix_);
    const TensorView dmixed = room(kept_.layer_gradient_, matrix_);
    activate_backward(dh, layer.gain, kept_.layers_[i + 1], dmixed, gradients.gain,
                      gradients.shift);
    linear_weight_gradient(context_, dmixed, input, precision, gradients.weights);
    linear_bias_gradient(context_, dmixed, gradients.bias);
    const TensorView dinput = room(kept_.input_gradient_, matrix_);
    linear_input_gradient(
        context_, dmixed,
        pack_weights(context_, layer.weights, PackedFor::kInputGradient, precision), dinput);
    add(context_, dh, dinput, dh);
  }

  LayerNormSaved saved(BagActivations::Layer& kept) const {
    return {room(kept.mean, {matrix_[0]}), room(kept.inverse_deviation, {matrix_[0]})};
  }

  const Context& context_;
  const BagWeights<ConstTensorView>& weights_;
  Shape matrix_;  // [N, D]
  const std::optional<PhiNoise>& noise_;
  BagActivations& kept_;
};

PackedBag pack_bag(const Context& context, const BagWeights<ConstTensorView>& weights,
                   Precision precision) {
  PackedBag packed;
  for (const BagLayer<ConstTensorView>& layer : weights.layers) {
    packed.layers.push_back(pack_weights(context, layer.weights, PackedFor::kForward, precision));
  }
  return packed;
}

void encode_bags(const Context& context, const BagWeights<ConstTensorView>& weights,
                 const PackedBag& packed, const Bags& bags, const std::optional<PhiNoise>& noise,
                 BagActivations& activations) {
  BagPass(context, weights, bags.offsets.width() - 1, noise, activations).forward(bags, packed);
}

RowGradient encode_bags_backward(const Context& context, const BagWeights<ConstTensorView>& weights,
                                 Precision precision, const Bags& bags,
                                 const std::optional<PhiNoise>& noise, TensorView dphi,
                                 BagActivations& activations,
                                 const BagWeights<TensorView>& gradients) {
  return BagPass(context, weights, bags.offsets.width() - 1, noise, activations)
      .backward(bags, precision, dphi, gradients);
}

}  // namespace elias
