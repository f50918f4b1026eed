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

/// From labels [N x L] (a relevance is a weight), phi [N, D] or not given, and bow N x V (no
/// columns: left out). The rows of phi and bow need not be of length 1. At most `most_terms` of a
/// label's sparse entries are kept, the largest: what bounds memory on data with long texts.
LabelCentroids label_centroids(const Csr& labels, ConstTensorView phi, const Csr& bow,
                               size_t most_terms, ThreadPool& pool);

}  // namespace elias
