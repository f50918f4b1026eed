// The blocked matrix product under linear.h: C [M, N] (+)= A [M, K] B [K, N].
//
// B is packed beforehand into panels of a few columns over all of K, A on the way into panels of a
// few rows; a kernel multiplies one panel of each from front to back, with the sums in registers.
// How work is cut depends on M, N and K alone, and every sum runs over k in order, so the bits do
// not depend on the number of threads.
#pragma once

#include <cstdint>

#include "ops/context.h"
#include "ops/product/linear.h"
#include "ops/tensor.h"

namespace elias::cpu {

/// A float matrix in memory, or its transpose: element (i, j) is data[i * stride + j], or,
/// transposed, data[j * stride + i].
struct Matrix {
  const float* data;
  int64_t stride;
  bool transposed;

  const float* at(int64_t i, int64_t j) const {
    return data + (transposed ? j * stride + i : i * stride + j);
  }
};

/// Where the sums start and what becomes of them: c = act(start + sum), where start is c itself
/// (`accumulate`), or the bias if there is one, or zero.
struct SumRule {
  bool accumulate = false;
  const float* bias = nullptr;  // from the first column of c on
  Activation activation = Activation::kNone;
};

/// Consecutive panels of A against consecutive panels of B.
struct PanelBlock : SumRule {
  const void* left;    // panels of A, each kernel.rows x depth
  int64_t left_step;   // elements from one panel of A to the next
  int64_t rows;        // rows of C; the last panel may be wider
  const void* right;   // panels of B, at the first k of this block
  int64_t right_step;  // elements from one panel of B to the next
  int64_t columns;     // columns of C; the last panel may be wider
  int64_t depth;       // k values, a multiple of kernel.depth; padded with zeros
  float* c;
  int64_t c_stride;
};

/// The innermost part, one a precision and instruction set.
struct ProductKernel {
  int64_t rows;     // of a panel of A
  int64_t columns;  // of a panel of B
  int64_t depth;    // k values are taken in multiples of this
  DType dtype;      // of the elements of panels

  /// Packs rows [0, rows) and k [0, depth) of `a` into a panel that is rows x padded depth.
  void (*pack_left)(const Matrix& a, int64_t rows, int64_t depth, void* panel);
  /// Packs columns [0, columns) and k [0, depth) of `b` likewise.
  void (*pack_right)(const Matrix& b, int64_t columns, int64_t depth, void* panel);
  void (*multiply)(const PanelBlock& block);
};

/// float32, or bf16 without tiles: the operands are rounded to bf16 when packed, and kept as
/// floats.
const ProductKernel& simd_kernel(Isa isa, Precision precision);
/// bf16 tiles (AMX); only where Isa::kAmx is supported.
const ProductKernel& amx_kernel();

const ProductKernel& product_kernel(Isa isa, Precision precision);

/// B [inner, outer] in panels, all of them one behind the other.
struct PackedRight {
  const void* panels;
  int64_t inner;
  int64_t outer;
};

/// How many elements the panels of B [K, N] take.
int64_t packed_size(const ProductKernel& kernel, int64_t K, int64_t N);

/// Packs B [K, N] into `panels`, which has room for packed_size elements.
PackedRight pack_right(const Context& context, const ProductKernel& kernel, const Matrix& b,
                       int64_t K, int64_t N, void* panels);

/// C [M, N] by the rule from A [M, K] B, which was packed for the same kernel.
void multiply(const Context& context, const ProductKernel& kernel, const Matrix& a, int64_t M,
              const PackedRight& b, const SumRule& rule, float* c, int64_t c_stride);

}  // namespace elias::cpu
