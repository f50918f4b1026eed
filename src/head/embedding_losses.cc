#include "head/embedding_losses.h"

#include <numeric>
#include <vector>

#include "base/errors.h"
#include "head/directions.h"
#include "ops/rows/row_access.h"

namespace elias {
namespace {

/// phi with the length that all labels share: what their directions are multiplied with.
class StretchedPoints {
 public:
  StretchedPoints(const Context& context, ConstTensorView phi, float length)
      : context_(context), phi_(phi), length_(length) {
    if (length == 1) return;
    own_ = copy_to(Device::kCpu, phi);
    scale(context.pool(), length, own_);
  }

  ConstTensorView view() const { return own_ ? ConstTensorView(own_) : phi_; }

  /// dstretched [N, D] becomes dphi. Returns the gradient of the length.
  double backward(TensorView dstretched) const {
    std::vector<double> along(static_cast<size_t>(phi_.rows()));
    for_rows(context_.pool(), along.size(), [&](size_t i) {
      const auto row = row_of(ConstTensorView(dstretched), i);
      along[i] = std::inner_product(row.begin(), row.end(), row_of(phi_, i).begin(), 0.0);
    });
    if (length_ != 1) scale(context_.pool(), length_, dstretched);
    return std::accumulate(along.begin(), along.end(), 0.0);
  }

 private:
  const Context& context_;
  ConstTensorView phi_;
  float length_;
  Tensor own_;  // empty where the length is 1
};

}  // namespace

EmbeddingSums sampled_embedding_losses(const Context& context, const SampledLossOptions& options,
                                       Precision precision, ConstTensorView phi,
                                       const LabelEmbeddings& embeddings, const BatchLabels& labels,
                                       const DrawnLabels& drawn, TensorView dphi,
                                       TensorView drows) {
  const auto R = static_cast<int64_t>(drawn.labels.size());
  const StretchedPoints points(context, phi, embeddings.length);
  const Directions rows(context, gathered_rows(context.pool(), embeddings.weights, drawn.labels));
  Tensor scores({phi.rows(), R}, DType::kFloat32);
  linear(context, points.view(), pack_weights(context, rows.unit, PackedFor::kForward, precision),
         {}, Activation::kNone, scores);
  EmbeddingSums sums;
  sums.loss = sampled_losses(context, options, labels, drawn, scores);
  linear_input_gradient(context, scores,
                        pack_weights(context, rows.unit, PackedFor::kInputGradient, precision),
                        dphi);
  Tensor dunit({R, phi.width()}, DType::kFloat32);
  linear_weight_gradient(context, scores, points.view(), precision, dunit);
  rows.backward(context, dunit, drows);
  sums.dlength = points.backward(dphi);
  return sums;
}

EmbeddingSums all_embedding_losses(const Context& context, float weight, Precision precision,
                                   ConstTensorView phi, const LabelEmbeddings& embeddings,
                                   const BatchLabels& labels, TensorView dphi, TensorView dweights,
                                   TensorView dbias) {
  const StretchedPoints points(context, phi, embeddings.length);
  const Directions rows(context, copy_to(Device::kCpu, embeddings.weights));
  Tensor dunit(embeddings.weights.shape(), DType::kFloat32);
  Shortlists none;
  const LabelLossOptions options{
      .weights = {.on_p = 0, .on_z = weight}, .all_labels = true, .precision = precision};
  EmbeddingSums sums;
  sums.loss = label_losses_by_blocks(context, options, points.view(),
                                     {.weights = rows.unit, .bias = embeddings.bias}, labels, none,
                                     dphi, dunit, dbias)
                  .on_z;
  rows.backward(context, dunit, dunit);
  add(context.pool(), dunit, dweights);
  sums.dlength = points.backward(dphi);
  return sums;
}

}  // namespace elias
