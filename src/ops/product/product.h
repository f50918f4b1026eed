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

/// A matrix in memory, of float32 or bfloat16, or its transpose: element (i, j) is at place
/// i * stride + j, or, transposed, j * stride + i.
struct Matrix {
  const void* data;
  DType dtype;
  int64_t stride;
  bool transposed;

  explicit Matrix(ConstTensorView view, bool is_transposed = false)
      : data(view.bytes()), dtype(view.dtype()), stride(view.stride()), transposed(is_transposed) {}
  Matrix(const float* first, int64_t row_stride, bool is_transposed = false)
      : data(first), dtype(DType::kFloat32), stride(row_stride), transposed(is_transposed) {}
  Matrix(const void* first, const Matrix& other)
      : data(first), dtype(other.dtype), stride(other.stride), transposed(other.transposed) {}

  /// The matrix from element (i, j) on.
  Matrix from(int64_t i, int64_t j) const {
    const int64_t place = transposed ? j * stride + i : i * stride + j;
    return {static_cast<const std::byte*>(data) + place * static_cast<int64_t>(size_of(dtype)),
            *this};
  }
};

/// Calls use(first element) with the element type of the matrix.
template <typename Use>
auto with_elements(const Matrix& matrix, const Use& use) {
  if (matrix.dtype == DType::kBFloat16) return use(static_cast<const BFloat16*>(matrix.data));
  return use(static_cast<const float*>(matrix.data));
}

/// Where the sums start and what becomes of them: c = act(start + sum), where start is c itself
/// (`accumulate`), or the bias if there is one, or zero. Kernels know of no GELU.
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
  /// The same with rows of bfloat16 as they lie, `stride` apart, in the place of panels of A; block
  /// has whole panels of them, and a depth that is theirs. What follows them is called into the
  /// cache meanwhile. Null where rows must be packed.
  void (*multiply_rows)(const PanelBlock& block, const BFloat16* rows, int64_t stride) = nullptr;
};

/// float32, or bf16 without instructions for it: the operands are rounded to bf16 when packed, and
/// kept as floats.
const ProductKernel& simd_kernel(Isa isa, Precision precision);
/// bf16 on vectors; only where Isa::kAvx512Bf16 is supported.
const ProductKernel& bf16_kernel();
/// bf16 on tiles (AMX); only where Isa::kAmx is supported.
const ProductKernel& amx_kernel();

const ProductKernel& product_kernel(Isa isa, Precision precision);

/// B [inner, outer] in panels, all of them one behind the other.
struct PackedRight {
  const void* panels;
  int64_t inner;
  int64_t outer;
};

/// The least multiple that is not below the value.
constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// How many elements the panels of B [K, N] take.
int64_t packed_size(const ProductKernel& kernel, int64_t K, int64_t N);

/// Packs B [K, N] into `panels`, which has room for packed_size elements.
PackedRight pack_right(const Context& context, const ProductKernel& kernel, const Matrix& b,
                       int64_t K, int64_t N, void* panels);

/// What a product gives beside, or in the place of, its sums.
struct ProductRule {
  SumRule sums = {};
  TensorView before = {};        // [M, N], may be not given: the sums before GELU
  ConstTensorView through = {};  // [M, N], may be not given: sums are scaled by GELU's slope there
};

/// C [M, N] by the rule from A [M, K] B, which was packed for the same kernel. C is float32 or,
/// where nothing is accumulated, bfloat16; so are the matrices of the rule.
void multiply(const Context& context, const ProductKernel& kernel, const Matrix& a, int64_t M,
              const PackedRight& b, const ProductRule& rule, TensorView c);

/// Writes sums [rows, columns], which are still in the cache, to where they go, as the rule says.
void finish_product(Isa isa, const float* sums, int64_t sums_stride, const ProductRule& rule,
                    TensorView c);

}  // namespace elias::cpu
