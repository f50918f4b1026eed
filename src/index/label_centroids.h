// Where labels lie: the normalised sum of the features of each label's points (ELIAS, section 3.3).
//
// The features of a point are psi = [phi / |phi|, bow / |bow|], or one of the two. The part of the
// bag of words stays sparse: the whole of it may have a million columns.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "ops/tensor.h"

namespace elias {

/// Row l is mu_l = [dense[l], sparse row l], of Euclidean length 1, or zero for a label without
/// points.
struct LabelCentroids {
  Tensor dense;  // [L, D] float32, or not given
  Csr sparse;    // L x V, or no columns

  int64_t labels() const { return static_cast<int64_t>(sparse.rows()); }
};

/// Adds phi / |phi| of some points to the sums [L, D] of their labels, each times its relevance.
/// phi [n, D] is of rows first, first + 1 ... of labels [N x L]. So phi of all points, which may be
/// most of the memory there is, is never needed at once.
void add_to_label_sums(const Csr& labels, size_t first, ConstTensorView phi, TensorView sums,
                       ThreadPool& pool);

/// From labels [N x L] (a relevance is a weight), the sums [L, D] of add_to_label_sums over all
/// points, or none, and bow N x V (no columns: left out), whose rows need not be of length 1. At
/// most `most_terms` of a label's sparse entries are kept, the largest: what bounds memory on data
/// with long texts.
LabelCentroids label_centroids(const Csr& labels, Tensor sums, const Csr& bow, size_t most_terms,
                               ThreadPool& pool);

}  // namespace elias
