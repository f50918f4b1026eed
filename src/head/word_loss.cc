// Some places at a time, so that the scores of all words stay few.
#include "head/word_loss.h"

#include <algorithm>
#include <vector>

#include "ops/rows/row_access.h"
#include "ops/rows/softmax_clamp.h"

namespace elias {
namespace {

// Calls use(p, first) for the probabilities p [m, V], times `weight`, of the places from `first`
// on; p is free to be changed.
template <typename Use>
WordSums for_probabilities(const Context& context, const WordClassifier& classifier,
                           Precision precision, ConstTensorView h, std::span<const int32_t> targets,
                           float weight, const Use& use) {
  ELIAS_ASSERT(h.rows() == std::ssize(targets));
  const PackedWeights packed =
      pack_weights(context, classifier.words, PackedFor::kForward, precision);
  const int64_t V = classifier.words.rows();
  Tensor scores({std::min(kScoredPlaces, h.rows()), V}, DType::kFloat32);
  WordSums sums;
  for (int64_t first = 0; first < h.rows(); first += kScoredPlaces) {
    const int64_t m = std::min(kScoredPlaces, h.rows() - first);
    const TensorView z = scores.view().slice(0, m);
    linear(context, h.slice(first, first + m), packed, classifier.bias, Activation::kNone, z);
    std::vector<float> of_target(static_cast<size_t>(m));
    std::vector<uint8_t> hit(of_target.size());
    for_rows(context.pool(), of_target.size(), [&](size_t row) {
      const auto own = row_of(ConstTensorView(z), row);
      of_target[row] = own[static_cast<size_t>(targets[static_cast<size_t>(first) + row])];
      hit[row] = *std::ranges::max_element(own) <= of_target[row] ? 1 : 0;
    });
    Tensor log_sum({m}, DType::kFloat32);
    softmax_clamp(context, z, weight, z, log_sum);
    for (size_t row = 0; row < of_target.size(); ++row) {
      sums.loss += double{log_sum.span<float>()[row]} - double{of_target[row]};
      sums.hits += hit[row];
    }
    use(z, first);
  }
  return sums;
}

}  // namespace

WordSums word_losses(const Context& context, const WordClassifier& classifier, Precision precision,
                     ConstTensorView h, std::span<const int32_t> targets) {
  return for_probabilities(context, classifier, precision, h, targets, 1,
                           [](const TensorView&, int64_t) {});
}

WordSums word_losses_backward(const Context& context, const WordClassifier& classifier,
                              Precision precision, ConstTensorView h,
                              std::span<const int32_t> targets, float weight, TensorView dh,
                              TensorView dwords, TensorView dbias) {
  ELIAS_ASSERT(weight <= 1);  // above, the clamp would cut probabilities off
  const PackedWeights back =
      pack_weights(context, classifier.words, PackedFor::kInputGradient, precision);
  return for_probabilities(
      context, classifier, precision, h, targets, weight, [&](const TensorView& z, int64_t first) {
        // The gradient: weight * softmax, and that of the true word less.
        for (int64_t row = 0; row < z.rows(); ++row) {
          const int32_t target = targets[static_cast<size_t>(first + row)];
          row_of(z, static_cast<size_t>(row))[static_cast<size_t>(target)] -= weight;
        }
        linear_input_gradient(context, z, back, dh.slice(first, first + z.rows()));
        linear_weight_gradient(context, z, h.slice(first, first + z.rows()), precision, dwords);
        linear_bias_gradient(context, z, dbias);
      });
}

}  // namespace elias
