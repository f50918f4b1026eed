#include "train/word_head.h"

#include <utility>

#include "ops/room.h"
#include "ops/rows/gelu.h"
#include "train/initial_values.h"

namespace elias {

WordHead::WordHead(const Context& context, const TransformerShape& shape, uint64_t seed)
    : shape_(shape),
      weights_({shape.width, shape.width}, {.name = "head.weights"}),
      bias_({shape.width}, {.name = "head.bias"}),
      gain_({shape.width}, {.name = "head.gain"}),
      shift_({shape.width}, {.name = "head.shift"}),
      word_bias_({shape.vocabulary}, {.name = "head.word_bias"}) {
  fill_uniform(context, weights_.weights(), uniform_bound(shape.width), seed, kLayerValues);
  fill(gain_.weights(), 1);
}

WordClassifier WordHead::classifier(ConstTensorView table) const {
  return {.words = table.slice(0, shape_.vocabulary), .bias = word_bias_.weights()};
}

LayerNormSaved WordHead::saved(int64_t M) { return {room(mean_, {M}), room(inverse_, {M})}; }

ConstTensorView WordHead::transform(const Context& context, Precision precision,
                                    ConstTensorView h) {
  const int64_t M = h.rows(), D = shape_.width;
  const TensorView activated = room(activated_, {M, D}), normed = room(normed_, {M, D});
  linear(context, h,
         pack_weights(context, std::as_const(weights_).weights(), PackedFor::kForward, precision),
         std::as_const(bias_).weights(), Activation::kGelu, activated, room(before_, {M, D}));
  layer_norm(context, activated, std::as_const(gain_).weights(), std::as_const(shift_).weights(),
             shape_.epsilon, normed, saved(M));
  return normed;
}

WordSums WordHead::evaluate(const Context& context, Precision precision, ConstTensorView table,
                            ConstTensorView h, std::span<const int32_t> targets) {
  return word_losses(context, classifier(table), precision, transform(context, precision, h),
                     targets);
}

WordSums WordHead::learn(const Context& context, Precision precision, ConstTensorView table,
                         ConstTensorView h, std::span<const int32_t> targets, TensorView dh,
                         TensorView dwords) {
  const int64_t M = h.rows(), D = shape_.width;
  const ConstTensorView normed = transform(context, precision, h);
  const TensorView dnormed = room(dnormed_, {M, D});
  const WordSums sums =
      word_losses_backward(context, classifier(table), precision, normed, targets,
                           1 / static_cast<float>(M), dnormed, dwords, word_bias_.gradient());
  layer_norm_backward(context, dnormed, room(activated_, {M, D}), std::as_const(gain_).weights(),
                      saved(M), dnormed, gain_.gradient(), shift_.gradient());
  gelu_backward(context, dnormed, room(before_, {M, D}), dnormed);
  linear_weight_gradient(context, dnormed, h, precision, weights_.gradient());
  linear_bias_gradient(context, dnormed, bias_.gradient());
  linear_input_gradient(context, dnormed,
                        pack_weights(context, std::as_const(weights_).weights(),
                                     PackedFor::kInputGradient, precision),
                        dh);
  return sums;
}

}  // namespace elias
