// A row gradient and rows that are there as they are, as one row gradient.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "ops/lookup/row_gradient.h"
#include "ops/tensor.h"

namespace elias {

class RowGradientSum {
 public:
  /// `gradient` and `values` [R, D] float32 of the rows [R], rising. The source of the sum has the
  /// element type of the gradient's, to which values are rounded. Without rows it is the gradient
  /// itself, which must outlive the object then.
  RowGradientSum(const Context& context, const RowGradient& gradient, std::span<const int32_t> rows,
                 ConstTensorView values);

  const RowGradient& gradient() const { return *gradient_; }

 private:
  RowGradient own_;
  Tensor source_;  // [N + R, D] the gradient's, then values
  const RowGradient* gradient_;
};

}  // namespace elias
