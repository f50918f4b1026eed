// The shortlists of a training batch: which labels each point was given, and how they were reached.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/csr.h"
#include "ops/tensor.h"

namespace elias {

/// The labels of the N points of a batch: rows of the matrix of all.
struct BatchLabels {
  const Csr* matrix;
  std::span<const uint32_t> points;  // [N]

  CsrRow row(size_t i) const { return matrix->row(points[i]); }
};

/// The shortlists of a batch, at most K places each: the first counts[i] of point i are filled.
struct Shortlists {
  Shortlists() = default;
  Shortlists(int64_t N, int64_t K)
      : labels({N, K}, DType::kInt32),
        yhat({N, K}, DType::kFloat32),
        edges({N, K}, DType::kInt32),
        slots({N, K}, DType::kInt32),
        dlog_yhat({N, K}, DType::kFloat32),
        counts(static_cast<size_t>(N)) {}

  int64_t points() const { return static_cast<int64_t>(counts.size()); }
  int64_t places() const { return labels.shape()[1]; }
  /// Of `what`, one of the tensors, those of point i that are filled.
  template <typename T>
  std::span<T> row(Tensor& what, size_t i) const {
    return what.span<T>().subspan(i * static_cast<size_t>(places()),
                                  static_cast<size_t>(counts[i]));
  }
  template <typename T>
  std::span<const T> row(const Tensor& what, size_t i) const {
    return what.span<T>().subspan(i * static_cast<size_t>(places()),
                                  static_cast<size_t>(counts[i]));
  }

  Tensor labels;     // [N, K] int32, rising; -1 in places that are not filled
  Tensor yhat;       // [N, K] scores of the best paths
  Tensor edges;      // [N, K] int32, how each label was reached (index/search.h)
  Tensor slots;      // [N, K] int32
  Tensor dlog_yhat;  // [N, K] the gradient, set by the losses (head/label_losses.h)
  std::vector<int32_t> counts;
};

}  // namespace elias
