// Products of matrices so small that one thread multiplies them while they are in its cache: packed
// and multiplied by the kernels of ops/product/product.h, in the caller's memory.
#pragma once

#include <cstdint>

#include "ops/cpu/scratch.h"
#include "ops/product/product.h"

namespace elias::cpu {

/// A packed operand: lines [0, lines) of `depth` k values each.
struct SmallOperand {
  const void* panels;
  int64_t lines;
  int64_t depth;
};

class SmallProduct {
 public:
  explicit SmallProduct(const ProductKernel& kernel) : kernel_(&kernel) {}

  /// A [rows, depth], or B [depth, columns]; valid until `room` is used again.
  SmallOperand left(const Matrix& a, int64_t rows, int64_t depth, Scratch& room) const;
  SmallOperand right(const Matrix& b, int64_t depth, int64_t columns, Scratch& room) const;

  /// c [rows, columns], rows c_stride apart, = A B, or += with `accumulate`.
  void multiply(const SmallOperand& a, const SmallOperand& b, bool accumulate, float* c,
                int64_t c_stride) const;

 private:
  int64_t padded(int64_t depth) const;

  const ProductKernel* kernel_;
};

}  // namespace elias::cpu
