// Between float32 and bfloat16 on the GPU, also into a larger matrix.
#pragma once

#include "ops/cuda/rows.cuh"

namespace elias::cuda {

/// to [rows, width] = from, float32 or bfloat16 each, with zeros where `from` ends before `to`.
void convert_padded(ConstTensorView from, void* to, DType to_type, int64_t to_stride, int64_t rows,
                    int64_t width);

}  // namespace elias::cuda
