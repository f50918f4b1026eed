// The losses of an embedding classifier on a batch, with all gradients (GLaS, section 3.1).
//
// The embedding of a label is the direction of its row of W [L, D]; all labels share one length a:
//
//   z = a phi . w / |w| + b        phi of unit length
//
// A row's own length is of no consequence: the gradient is at right angles to the row.
#pragma once

#include "head/label_losses.h"
#include "head/sampled_losses.h"
#include "ops/context.h"
#include "ops/product/linear.h"
#include "ops/tensor.h"

namespace elias {

struct LabelEmbeddings {
  ConstTensorView weights;  // [L, D]
  ConstTensorView bias;     // [L]; sampled losses go without
  float length = 1;         // a
};

struct EmbeddingSums {
  double loss = 0;     // of all points, without its weight
  double dlength = 0;  // the gradient of a
};

/// On the labels that the batch has drawn. Sets dphi [N, D] and drows [R, D], the gradient of the
/// drawn rows of W.
EmbeddingSums sampled_embedding_losses(const Context& context, const SampledLossOptions& options,
                                       Precision precision, ConstTensorView phi,
                                       const LabelEmbeddings& embeddings, const BatchLabels& labels,
                                       const DrawnLabels& drawn, TensorView dphi, TensorView drows);

/// The loss on z of all labels. Sets dphi [N, D], adds to dweights [L, D] and dbias [L].
EmbeddingSums all_embedding_losses(const Context& context, float weight, Precision precision,
                                   ConstTensorView phi, const LabelEmbeddings& embeddings,
                                   const BatchLabels& labels, TensorView dphi, TensorView dweights,
                                   TensorView dbias);

}  // namespace elias
