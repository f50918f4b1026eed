// Rows with their lengths taken apart, and rows of a few labels.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

struct Directions {
  /// Takes the rows over.
  Directions(const Context& context, Tensor rows);

  /// drows of dunit; drows may be dunit.
  void backward(const Context& context, ConstTensorView dunit, TensorView drows) const;

  Tensor unit, lengths;  // [N, D], [N]
};

/// Those of w [L, D] of the labels [R].
Tensor gathered_rows(ThreadPool& pool, ConstTensorView w, std::span<const int32_t> labels);

/// gradient [L, D] of all rows += drows of the labels [R].
void add_rows(ThreadPool& pool, std::span<const int32_t> labels, ConstTensorView drows,
              TensorView gradient);

/// to [N, D] += from.
void add(ThreadPool& pool, ConstTensorView from, TensorView to);

/// Every element times `factor`.
void scale(ThreadPool& pool, float factor, TensorView matrix);

}  // namespace elias
