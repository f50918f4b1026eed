// From phi and shortlists to the losses of a batch and all gradients on the label side.
//
// Two ways to the same sums. By blocks: the product of all points with a block of labels, then the
// next block, at the speed of a matrix product; it wins where a shortlist holds about an eighth
// of all labels or more, and is the only way to a loss on all labels. By rows: each point against
// the labels of its shortlist alone, for label sets too large to pass over.
#pragma once

#include <cstdint>

#include "head/losses.h"
#include "index/shortlists.h"
#include "ops/context.h"
#include "ops/lookup/row_gradient.h"
#include "ops/product/linear.h"
#include "ops/tensor.h"

namespace elias {

/// Of the losses on p and z an entry of a shortlist counts `weights`. With `all_labels` the loss on
/// z is over all labels, in a shortlist or not, and is all that z learns from: in the loss on p it
/// counts as given, which teaches yhat alone.
struct LabelLossOptions {
  LossWeights weights;
  bool all_labels = false;
  Precision precision = Precision::kFloat32;
};

/// The classifiers, W [L, D] and b [L]; by rows W may be bfloat16.
struct LabelClassifiers {
  ConstTensorView weights;
  ConstTensorView bias;
};

/// By blocks. Sets dphi [N, D] and the shortlists' dlog_yhat, adds to dweights [L, D], dbias [L].
/// Without shortlists (no point in them) only the loss on z of all labels is taken.
LossSums label_losses_by_blocks(const Context& context, const LabelLossOptions& options,
                                ConstTensorView phi, const LabelClassifiers& classifiers,
                                const BatchLabels& labels, Shortlists& shortlists, TensorView dphi,
                                TensorView dweights, TensorView dbias);

/// What row-wise steps of the classifiers need.
struct LabelRowGradients {
  RowGradient weights;  // its source is phi, or rounded_phi if that is there
  RowGradient bias;     // of [L, 1]; its source is `ones`
  Tensor ones;          // [N, 1]
  Tensor rounded_phi;   // [N, D] bfloat16, where products are to be of such
};

/// By rows, of shortlists alone: `options.all_labels` must not be set. phi must live as long as the
/// result. Adds up the losses in `sums`.
LabelRowGradients label_losses_by_rows(const Context& context, const LabelLossOptions& options,
                                       ConstTensorView phi, const LabelClassifiers& classifiers,
                                       const BatchLabels& labels, Shortlists& shortlists,
                                       TensorView dphi, LossSums& sums);

}  // namespace elias
