// One matrix product through cuBLASLt, in its own terms: matrices lie column by column, so that a
// matrix of ours, row by row, is its transpose there.
#pragma once

#include <cublasLt.h>

#include <cstdint>

namespace elias::cuda {

/// d [m, n] = act(op(a) [m, k] op(b) [k, n] + bias [m]) + beta d, with m, n, k > 0.
struct Product {
  int64_t m, n, k;
  cudaDataType_t type;  // of a and b: CUDA_R_32F or CUDA_R_16BF
  const void* a;
  int64_t a_stride;  // between columns, as stored
  cublasOperation_t a_op;
  const void* b;
  int64_t b_stride;
  cublasOperation_t b_op;
  void* d;
  cudaDataType_t d_type;  // CUDA_R_32F, or CUDA_R_16BF if a and b are so
  int64_t d_stride;
  const void* bias = nullptr;  // of the type of d, at 16 bytes
  bool relu = false;
  float beta = 0;
};

/// Sums are float32, and so are products of float32 operands: they are not rounded on the way to d.
void multiply(const Product& product);

}  // namespace elias::cuda
